import { ORIGINS } from '@carillon/domain/configuration';
import { ACTOR_KINDS } from '@carillon/domain/people';
import { z } from 'zod';
import { next, time } from './fields.ts';
import { changeBody } from './management.ts';
import { OPEN, open } from './privacy.ts';

/** Author of an action. Names are looked up for display, because records keep the id of removed people. */
export const actorBody = z
  .object({
    kind: z.enum(ACTOR_KINDS),
    id: z.string(),
    name: z.string().nullable().describe('Null: the person was removed, or it is none'),
  })
  .meta({ id: 'Actor', ...OPEN });
export type ActorBody = z.infer<typeof actorBody>;

/** Fields that every resource has. `number` in quotes is its `ETag`. */
export const resourceFacts = z.object({
  kind: z.string(),
  workspace: z.string().describe('Empty for the deployment'),
  name: z.string().describe('Empty for a workspace’s own settings and for the deployment'),
  number: z.int().describe('Configuration that gave it this body; in quotes it is the `ETag`'),
  version: z.int().describe('Counts its published bodies, from 1'),
  updated_at: time,
  updated_by: actorBody,
  origin: z.enum(ORIGINS),
  draft: z
    .object({ by: actorBody, at: time })
    .nullable()
    .describe('Author of an unpublished draft. Null if there is no draft'),
});
export type ResourceFactsBody = z.infer<typeof resourceFacts>;

export const resourceFaultBody = z
  .object({
    kind: z.string(),
    workspace: z.string(),
    name: z.string(),
    code: z.string().describe('What is wrong, as a stable name for programs; a later version may have more of them'),
    facts: z.record(z.string(), z.string()).describe('Names and values that the words of the code need'),
    path: z.string().describe('Keys down to the value: `rules.paid.when`. Empty: the whole body'),
    line: z.int().nullable().describe('Within the text at the path; null: all of the value'),
    column: z.int().nullable(),
    message: z.string(),
    expected: z.string().describe('Empty of a warning'),
    fix: z.string().describe('What to do now'),
  })
  .meta({ id: 'ResourceFault', ...OPEN });
export type ResourceFaultBody = z.infer<typeof resourceFaultBody>;

export const resourcePlanBody = z
  .object({
    number: z.int().describe('Configuration number that it was compared with'),
    faults: z.array(resourceFaultBody),
    warnings: z.array(resourceFaultBody),
    changes: z.array(changeBody).describe('Also of templates that are compiled again with it'),
    files: open(z.array(z.object({ path: z.string(), text: z.string() }))).describe(
      'What it would be as files of a folder, as `export` writes them; none of a body whose form is wrong',
    ),
  })
  .meta({ id: 'ResourcePlan' });
export type ResourcePlanBody = z.infer<typeof resourcePlanBody>;

export const deletedResourceBody = z
  .object({ deleted: z.boolean(), new_number: z.int().describe('Configuration that does without it') })
  .meta({ id: 'DeletedResource' });

export const removeWorkspaceRequest = z.strictObject({
  number: z
    .int()
    .min(0)
    .describe(
      'Configuration that you counted by, as `removal` answers it: what was changed since is not removed unseen',
    ),
});
export const workspaceRemovalBody = z
  .object({
    workspace: z.string(),
    removed: z.boolean(),
    number: z.int().describe('Configuration that this was counted by'),
    new_number: z.int().nullable().describe('Configuration that does without it; null: nothing was changed'),
    resources: z.record(z.string(), z.int()).describe('How many it holds, by kind'),
    members: z.int().describe('People with a role in it: they have none there once it is made again'),
    secrets: z.int().describe('Stored secrets: they are gone with it'),
    drafts: z.int().describe('What was prepared in it and not published, which is gone with it'),
    told: z
      .int()
      .describe('People who were notified under it. A later workspace of the same name does not have this history'),
    waiting: z.int().describe('People with a waiting message that will not be sent'),
    waits: z.array(z.string()).describe('Rules by which entities wait: their waits end without a message'),
    faults: z.array(resourceFaultBody).describe('What still needs it elsewhere: as long as there is one, it stays'),
  })
  .meta({ id: 'WorkspaceRemoval' });
export type WorkspaceRemovalBody = z.infer<typeof workspaceRemovalBody>;

const publicationFacts = {
  number: z.int().describe('Configuration number'),
  at: time,
  by: actorBody,
  origin: z.enum(ORIGINS),
  message: z.string().nullable().describe('What its author wrote about it'),
  request_id: z.string().nullable(),
};
const action = z.enum(['create', 'update', 'delete']);

export const versionBody = z
  .object({
    ...publicationFacts,
    action,
    version: z.int().nullable().describe('Counts its published bodies; null: it was removed'),
  })
  .meta({ id: 'Version', ...OPEN });
export type VersionBody = z.infer<typeof versionBody>;
export const versionPage = z.object({ items: z.array(versionBody), next }).meta({ id: 'VersionPage' });

export const publicationBody = z
  .object({
    ...publicationFacts,
    changes: z.array(z.object({ kind: z.string(), name: z.string(), action })),
  })
  .meta({ id: 'Publication', ...OPEN });
export type PublicationBody = z.infer<typeof publicationBody>;
export const publicationPage = z.object({ items: z.array(publicationBody), next }).meta({ id: 'PublicationPage' });

export const resourceDiffBody = z
  .object({
    from: z.int(),
    to: z.int(),
    fields: z
      .array(z.object({ path: z.string(), before: z.string().nullable(), after: z.string().nullable() }))
      .describe('Every value that differs; null: the key is not there'),
    files: z
      .array(z.object({ path: z.string(), before: z.string().nullable(), after: z.string().nullable() }))
      .describe('The files that differ, as `export` writes them; null: there is no such file'),
  })
  .meta({ id: 'ResourceDiff', ...OPEN });
export type ResourceDiffBody = z.infer<typeof resourceDiffBody>;

export const rollbackRequest = z.strictObject({
  number: z.int().min(0).describe('A version of the resource: its body is published again'),
  message: z.string().max(500).optional().describe('Why, for the history'),
  with_references: z
    .boolean()
    .default(false)
    .describe('Also brings back what that body refers to and is gone; nothing that is there is changed'),
  check_only: z.boolean().default(false).describe('Answers what would happen, and changes nothing'),
});
export const rolledBackBody = z
  .object({
    applied: z.boolean().describe('False if nothing changed or the request was only a check'),
    new_number: z.int().nullable(),
    gone: z
      .array(z.object({ kind: z.string(), name: z.string() }))
      .describe('What the body refers to, was there at that number and is not any more'),
    ...resourcePlanBody.shape,
  })
  .meta({ id: 'RolledBack' });
export type RolledBackBody = z.infer<typeof rolledBackBody>;
