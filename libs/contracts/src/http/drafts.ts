import { z } from 'zod';
import { next, time } from './fields.ts';
import { changeBody } from './management.ts';
import { OPEN } from './privacy.ts';
import { actorBody, resourceFaultBody } from './resources.ts';

const json = z.record(z.string(), z.unknown());
const refFields = {
  kind: z.string(),
  workspace: z.string(),
  name: z.string().describe('Empty of the workspace’s own settings'),
};
const revision = z.string().describe('Names this saving of it, and no other; `d` and it, in quotes, are the `ETag`');
const basedOn = z
  .int()
  .nullable()
  .describe('Number of the resource that its author had seen; null: there was none; -1: one that a restore took back');
const number = z.int().nullable().describe('Number of the resource now; null: there is none');

export const draftStates = ['open', 'conflict', 'published'] as const;
const state = z
  .enum(draftStates)
  .describe(
    '`conflict`: the resource changed since and a person has to choose. `published`: it equals the published body',
  );

export const draftFacts = z
  .object({
    ...refFields,
    action: z.enum(['create', 'update', 'delete']),
    state,
    revision,
    based_on: basedOn,
    number,
    by: actorBody,
    at: time,
    promoted_from: z.string().nullable().describe('The workspace that it was promoted or copied from'),
  })
  .meta({ id: 'DraftFacts', ...OPEN });
export type DraftFactsBody = z.infer<typeof draftFacts>;

const text = z.string().nullable();
/** Conflicting changes of one resource by two people. */
export const draftConflictBody = z
  .object({
    ...refFields,
    revision,
    base: z
      .object({ number: basedOn, body: json.nullable() })
      .describe('What the draft began from; body null: there was none'),
    theirs: z.object({ number, body: json.nullable() }).describe('What counts now; body null: it was removed'),
    mine: z.object({ body: json.nullable() }).describe('What the draft wants; body null: that it goes'),
    fields: z
      .array(z.object({ path: z.string(), base: text, theirs: text, mine: text }))
      .describe('Every value in which the three are not the same'),
  })
  .meta({ id: 'DraftConflict', ...OPEN });
export type DraftConflictBody = z.infer<typeof draftConflictBody>;

export const draftBody = z
  .object({
    ...draftFacts.shape,
    body: json.nullable().describe('Null: the resource is to go'),
    faults: z.array(resourceFaultBody).describe('What keeps it from being published, together with the other drafts'),
    warnings: z.array(resourceFaultBody),
    conflict: draftConflictBody.nullable(),
  })
  .meta({ id: 'Draft', ...OPEN });
export type DraftBody = z.infer<typeof draftBody>;

export const saveDraftRequest = z.strictObject({
  body: json
    .nullable()
    .describe('The whole body that the resource is to have, with mistakes or without; null: it is to go'),
  based_on: z
    .int()
    .min(0)
    .nullable()
    .optional()
    .describe(
      'Number of the resource that you have seen, null where there is none. The first saving has to say it; later ones say it to keep mine after a conflict',
    ),
});
export const discardedDraftBody = z.object({ discarded: z.boolean() }).meta({ id: 'DiscardedDraft' });

export const draftPage = z
  .object({
    items: z.array(draftFacts),
    next,
  })
  .meta({ id: 'DraftPage' });
export type DraftPageBody = z.infer<typeof draftPage>;

const namedDraft = z.strictObject({
  kind: z.string().max(40),
  name: z.string().max(200).default(''),
  revision: z.string().max(100).optional().describe('The saving that you have seen; another one is refused with 412'),
});
const drafts = z.array(namedDraft).min(1).max(1000);
export const planDraftsRequest = z.strictObject({
  drafts: drafts.optional().describe('Defaults to all drafts of the workspace'),
});
export const publishDraftsRequest = z.strictObject({
  drafts,
  message: z.string().max(500).optional().describe('What it is about, for the history'),
});

const changedFile = z.object({ path: z.string(), before: text, after: text });
export const draftsPlanBody = z
  .object({
    number: z.int().describe('Configuration number that they were compared with'),
    drafts: z.array(draftFacts),
    conflicts: z.array(draftConflictBody).describe('Drafts with conflicts to resolve before they can be published'),
    faults: z.array(resourceFaultBody),
    warnings: z.array(resourceFaultBody),
    changes: z.array(changeBody).describe('Also of templates that are compiled again with them'),
    files: z.array(changedFile).describe('The files that would differ, as `export` writes them'),
    bodies: z
      .array(z.object({ kind: z.string(), name: z.string(), before: json.nullable(), after: json.nullable() }))
      .describe('Of the drafts of notifications: what counts now, and what the draft wants; null: nothing'),
  })
  .meta({ id: 'DraftsPlan', ...OPEN });
export type DraftsPlanBody = z.infer<typeof draftsPlanBody>;

export const publishedDraftsBody = z
  .object({
    new_number: z.int().nullable().describe('Null: the drafts changed nothing'),
    published: z.array(z.object(refFields)),
    warnings: z.array(resourceFaultBody),
    changes: z.array(changeBody),
  })
  .meta({ id: 'PublishedDrafts', ...OPEN });
export type PublishedDraftsBody = z.infer<typeof publishedDraftsBody>;

export const transferRequest = z.strictObject({
  resources: z
    .array(z.strictObject({ kind: z.string().max(40), name: z.string().max(200) }))
    .min(1)
    .max(1000)
    .optional()
    .describe('Defaults to all notifications, templates, layouts, partials and streams that differ'),
  with_needs: z
    .boolean()
    .default(false)
    .describe('Also takes the templates, layouts, partials and streams that `resources` refer to'),
  check_only: z.boolean().default(false).describe('Answers what would happen, and writes no draft'),
});

const transferBody = z.object({
  written: z.boolean(),
  drafts: z.array(
    z.object({
      ...refFields,
      action: z.enum(['create', 'update']),
      replaces_newer: z
        .boolean()
        .describe('The resource that the draft replaces was published after the resource that is copied'),
    }),
  ),
  unchanged: z.int(),
  in_the_way: z.array(draftFacts).describe('Drafts of others in the workspace: nothing was written over them'),
  missing: z
    .array(z.object({ kind: z.string(), name: z.string(), needed_by: z.array(z.string()) }))
    .describe(
      'Resources the workspace lacks that are not copied: accounts, integrations, JWT providers, API keys, secrets, categories',
    ),
  plan: draftsPlanBody.pick({ faults: true, warnings: true, changes: true, files: true, bodies: true }),
});
export type TransferBody = z.infer<typeof transferBody>;

export const promotedBody = transferBody
  .extend({
    live: z.string().describe('The workspace that the drafts are of'),
    only_live: z
      .array(z.object({ kind: z.string(), name: z.string() }))
      .describe('What the test environment does not have; it stays'),
  })
  .meta({ id: 'Promoted', ...OPEN });
export type PromotedBody = z.infer<typeof promotedBody>;

export const copiedBody = transferBody
  .extend({ from: z.string().describe('The live workspace that was copied') })
  .meta({ id: 'Copied', ...OPEN });
export type CopiedBody = z.infer<typeof copiedBody>;
