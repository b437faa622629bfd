import { messageContent } from './message-content.ts';
import { eventChangeBody } from './event-change.ts';
import { next, nullable, pageOf, time } from './fields.ts';
import { standing, storyWords } from './delivery-words.ts';
import { anAddress, OPEN, ofBodies, open } from './privacy.ts';
import { z } from 'zod';

/** Bodies of the management API (interfaces section 5). Names are snake_case; times RFC 3339; unknown fields may come. */

export const attemptBody = z
  .object({
    id: z.string(),
    account: z.string(),
    started_at: time,
    ended_at: nullable(time),
    verdict: z.string().nullable(),
    code: z.string().nullable(),
    detail: ofBodies(z.string()).nullable(),
  })
  .meta({ id: 'Attempt' });

export const moveBody = z
  .object({ at: time, state: z.string(), reason: z.string(), ...standing, detail: ofBodies(z.string()) })
  .meta({ id: 'Move' });

export const deliveryBody = z
  .object({
    id: z.string(),
    state: z.string(),
    reason: z.string(),
    ...standing,
    detail: ofBodies(z.string()),
    channel: z.string(),
    to: anAddress(z.string()).nullable(),
    unique_id: z.string(),
    workspace: z.string(),
    notification: z.string(),
    rule: z.string().nullable().describe('Null of a test message: no rule made it'),
    rule_version: z.int().nullable(),
    template: z.string(),
    template_version: z.int(),
    config_number: z.int(),
    event_id: z.string().nullable().describe('Null of a test message: no event caused it'),
    trigger_id: z.string().nullable(),
    intent_id: z.string(),
    test: z.boolean().describe('True for a test message, which counts toward no limit or statistic'),
    test_by: z.string().nullable().describe('Person who requested the test message'),
    sent_by: nullable(z.object({ person: z.string(), job: z.string(), run: z.string() })).describe(
      'Who sent it as a missing message of a comparison; null of any other message',
    ),
    attempts: z.array(attemptBody),
    history: z.array(moveBody),
    duplicates: z.int(),
    duplicate_of: z.string().nullable().describe('Set on the row of a duplicate: the delivery that holds its slot'),
    send_at: time.describe('When it is due by itself: later than its event where the notification has a delay'),
    next_at: nullable(time),
    not_after: time,
    created_at: time,
    updated_at: time,
  })
  .meta({ id: 'Delivery' });
export const deliveryPage = pageOf(deliveryBody).meta({ id: 'DeliveryPage' });
export type DeliveryBody = z.infer<typeof deliveryBody>;

export const eventBody = z
  .object({
    id: z.string(),
    workspace: z.string(),
    stream: z.string(),
    at: time,
    bytes: z.int(),
    position: z.string(),
    config_number: z.int(),
    event_id_reused: z.boolean(),
    trace_id: z.string().nullable().describe('W3C trace of the request; null where none is known'),
    label: ofBodies(z.string())
      .nullable()
      .describe(
        'With `labels=true`: its key or id and its first address, else its first fields; null if it left the log',
      ),
    change: ofBodies(eventChangeBody)
      .nullable()
      .describe('With `labels=true`: what was read of a database. Null for an event that was sent'),
  })
  .meta({ id: 'Event' });
export const eventPage = pageOf(eventBody).meta({ id: 'EventPage' });
export type EventBody = z.infer<typeof eventBody>;

const personOutcome = z.enum(['told', 'waiting', 'in_doubt', 'not_told']);

/** Somebody whom an event names, and what came of it; of several that were dropped together, all (`count`). */
export const personBody = z
  .object({
    rule: z.string(),
    place: z.int().describe('Which of those that the rule names, from 1'),
    count: z.int(),
    to: anAddress(z.string()).nullable(),
    unique_id: z.string().nullable(),
    person: z.string().nullable(),
    channel: z.string().nullable(),
    item: ofBodies(z.string()).nullable().describe('What the rule saw of this one, as JSON, cut short'),
    outcome: personOutcome,
    state: z.string().nullable(),
    reason: z.string(),
    ...storyWords,
    text: z.string(),
    delivery: z.string().nullable(),
  })
  .meta({ id: 'Person' });
export type PersonBody = z.infer<typeof personBody>;

const peopleBody = z
  .object({
    headline: z
      .string()
      .nullable()
      .describe('Such as `498 notified, 2 not: 1 rule error, 1 no address`; on the first page'),
    counts: z.object({ told: z.int(), waiting: z.int(), in_doubt: z.int(), not_told: z.int() }).nullable(),
    items: z.array(personBody),
    next,
  })
  .meta({ id: 'People' });

export const traceBody = z
  .object({
    kind: z.enum(['event', 'delivery']),
    id: z.string(),
    trace_id: z.string().nullable().describe('W3C trace of the request, as spans and collectors name it'),
    people: peopleBody.nullable().describe('People an event names. Null for a delivery'),
    steps: z.array(
      z.object({
        at: nullable(time),
        step: z.string(),
        id: z.string().nullable(),
        position: z.string().nullable(),
        config_number: z.int().nullable(),
        rule: z.string().nullable(),
        rule_version: z.int().nullable(),
        state: z.string().nullable(),
        reason: z.string().nullable(),
        ...storyWords,
        person: z
          .string()
          .nullable()
          .describe('Person the step is about, as the rule names them. Null: all people, or unknown'),
        text: z.string(),
        lines: z.array(z.string()),
      }),
    ),
  })
  .meta({ id: 'Trace' });
export type TraceBody = z.infer<typeof traceBody>;

/** Outcome of each event on the log for an address, newest first. */
export const whyBody = z
  .object({
    items: z.array(
      z.object({
        at: time,
        workspace: z.string(),
        event: z.string(),
        rule: z.string(),
        outcome: z.enum([...personOutcome.options, 'not_named']),
        state: z.string().nullable(),
        reason: z.string(),
        ...storyWords,
        text: z.string(),
        delivery: z.string().nullable(),
        unique_id: z.string().nullable(),
      }),
    ),
    looked: z.int().describe('How many events were looked through'),
    next,
  })
  .meta({ id: 'Why' });
export type WhyBody = z.infer<typeof whyBody>;

export const apiKeyBody = z
  .object({
    workspace: z.string(),
    name: z.string(),
    key_id: z.string(),
    created_at: time,
    expires_at: nullable(time),
    expired: z.boolean(),
    last_used_at: nullable(time).describe('To the minute; null: never, or not since this version was installed'),
    used_by: z.array(z.string()).describe('Notifications and streams that name it'),
  })
  .meta({ id: 'ApiKey' });
export const apiKeyList = pageOf(apiKeyBody).meta({ id: 'ApiKeyList' });
export type ApiKeyBodyShown = z.infer<typeof apiKeyBody>;
/** The only answer that ever holds a whole key. */
export const newApiKeyBody = z
  .object({
    name: z.string(),
    key: open(z.string()).describe('Shown this once'),
    expires_at: nullable(time),
  })
  .meta({ id: 'NewApiKey' });

export const jwtProviderBody = z.object({
  workspace: z.string(),
  name: z.string(),
  jwks_url: open(z.string()),
  issuer: nullable(open(z.string())).describe('Null: any'),
  audiences: open(z.array(z.string())).describe('One of them has to be the token’s; empty: any'),
  algorithms: z.array(z.string()),
  used_by: z.array(z.string()).describe('Notifications and streams that name it'),
});
export type JwtProviderBodyShown = z.infer<typeof jwtProviderBody>;

export const configurationFiles = open(z.record(z.string(), z.string())).describe('Path in the folder → text');

export const faultBody = z
  .object({
    file: z.string(),
    line: z.int(),
    column: z.int(),
    path: z.string(),
    message: z.string(),
    expected: z.string(),
    fix: z.string(),
  })
  .meta({ id: 'Fault', ...OPEN });
export type FaultBody = z.infer<typeof faultBody>;

export const changeBody = z
  .object({
    action: z.enum(['create', 'update', 'delete', 'missing']),
    resource: z.string().describe('Kind, workspace and name'),
    note: z.string().nullable(),
    formers: z
      .array(z.object({ name: z.string(), title: z.string(), id: z.string() }))
      .describe(
        'For a new notification: removed notifications that it may continue. With the id of one of them it keeps the history of who was notified',
      ),
    told: z
      .int()
      .nullable()
      .describe('For a removal: number of people who were notified under it. Null for kinds that notify nobody'),
    waiting: z
      .int()
      .nullable()
      .describe('Of what goes: to how many people a message still waits under it, which is not sent then'),
    fields: z.array(z.object({ path: z.string(), before: z.string().nullable(), after: z.string().nullable() })),
  })
  .meta({ id: 'Change', ...OPEN });
export const planBody = z
  .object({
    number: z.int().describe('Configuration number that it was compared with'),
    faults: z.array(faultBody),
    warnings: z.array(faultBody),
    changes: z.array(changeBody),
    unchanged: z.int(),
  })
  .meta({ id: 'Plan' });
export type PlanBody = z.infer<typeof planBody>;
export const appliedBody = planBody
  .extend({
    applied: z.boolean(),
    new_number: z.int().nullable(),
    drafts_unread: z
      .boolean()
      .optional()
      .describe('The drafts could not be read now: which of them are in conflict is not known'),
    draft_conflicts: z
      .array(
        z.object({
          kind: z.string(),
          workspace: z.string(),
          name: z.string(),
          by: z.object({ kind: z.string(), id: z.string() }),
        }),
      )
      .describe('Drafts in conflict with this change. A person has to choose before they can be published'),
  })
  .meta({ id: 'Applied' });
export type AppliedBody = z.infer<typeof appliedBody>;

export const cohortBody = z
  .object({
    id: z.string().describe('At the platform; names change'),
    name: z.string().nullable(),
    members: z.int().describe('Who is in now, by what has been applied so far'),
    first_heard_at: time,
    newest_at: time.describe('Time of the newest message'),
    synced_at: nullable(time).describe('Begin of the newest whole sync; null: none has been whole yet'),
    sync: nullable(
      z.object({
        session: z.string(),
        began_at: time,
        pages_so_far: z.int(),
        pages: z.int().nullable().describe('Null: the sender has not said yet'),
        skipped: z.int().describe('Members on these pages without a usable user id'),
        complete: z.boolean(),
        names_nobody: z
          .boolean()
          .describe('All pages have arrived, but no member had a usable user id, so no members leave. Check user_id'),
        leaving: z.boolean().describe('All pages have arrived, and members on none of them are leaving'),
      }),
    ).describe('The newest sync of the whole cohort, or the first one by additions; null: there were only differences'),
    first_sync_until: nullable(time).describe('Until then who enters without a named sync belongs to the first sync'),
    skipped: z.int().describe('Members without a usable user id since the first message'),
  })
  .meta({ id: 'Cohort' });
export const cohortPage = pageOf(cohortBody).meta({ id: 'CohortPage' });
export type CohortBodyShown = z.infer<typeof cohortBody>;

export const inboxMessageBody = z
  .object({
    id: z.string(),
    workspace: z.string(),
    delivery_id: z.string(),
    ...messageContent.shape,
    at: time,
  })
  .meta({ id: 'InboxMessage' });
export const inboxPage = pageOf(inboxMessageBody).meta({ id: 'InboxPage' });
export type InboxMessageBody = z.infer<typeof inboxMessageBody>;

export const statusBody = z
  .object({
    version: z.string(),
    backend: z.string(),
    config_number: z.int(),
    workspaces: z.array(z.string()),
    events_url: z.string(),
    deliveries: z.record(z.string(), z.int()),
  })
  .meta({ id: 'Status' });
export type StatusBody = z.infer<typeof statusBody>;

/** Files of a folder, and whether resources outside it are removed. */
export const folderBody = z
  .strictObject({
    files: configurationFiles,
    prune: z.boolean().default(false).describe('Whether resources that the folder lacks are removed'),
    workspace: z
      .string()
      .max(100)
      .optional()
      .describe('Plans, applies and takes away in this workspace alone; a folder that holds others too is refused'),
    based_on: z
      .int()
      .min(-1)
      .optional()
      .describe(
        '`number` of the export or plan that the folder comes from. If the folder would overwrite a later change, nothing is applied. Without it the folder always wins',
      ),
  })
  .meta({ id: 'Folder' });
export const exportedBody = z.object({ number: z.int(), files: configurationFiles }).meta({ id: 'Exported' });

export const revokedBody = z.object({ revoked: z.boolean() }).meta({ id: 'Revoked' });
export const removedBody = z.object({ removed: z.boolean() }).meta({ id: 'Removed' });
export const backupBody = z
  .object({ file: z.string().describe('Absolute path on the server'), bytes: z.int() })
  .meta({ id: 'Backup' });
export const sessionBody = z.object({ ok: z.boolean() }).meta({ id: 'Session' });
export const ownerLinkBody = z
  .object({
    word: open(z.string()).describe('To be opened as <portal>/welcome#<word>; shown this once'),
    ends_at: time,
  })
  .meta({ id: 'OwnerLink' });
export type OwnerLinkBody = z.infer<typeof ownerLinkBody>;
