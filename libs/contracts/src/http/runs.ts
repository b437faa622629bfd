import { JOB_STATES } from '@carillon/domain/jobs';
import { DIFFERENCES, OUTPUTS, PROBLEMS, ROW_DIFFERENCES, RUN_KINDS, SLOT_STATES } from '@carillon/domain/runs';
import { z } from 'zod';
import { nullable, pageOf, time } from './fields.ts';
import { folderBody } from './management.ts';
import { previewedMessage } from './message-content.ts';
import { anAddress, ofBodies, open } from './privacy.ts';
import { actorBody } from './resources.ts';
import { gateBody } from './why-not.ts';

/** Bodies of the management API about runs over a range of the log. */

export const runRequest = z
  .strictObject({
    kind: z
      .enum(RUN_KINDS)
      .default('compare')
      .describe(
        '`verify` takes a time range and no edit: it evaluates past events again and compares the outputs with the log',
      ),
    last: z
      .string()
      .max(40)
      .optional()
      .describe(
        'Length of the time range up to now, such as `30d`; defaults to `30d`, and for `find` to the whole log',
      ),
    text: z
      .string()
      .min(1)
      .max(500)
      .optional()
      .describe(
        'For `find`: the text to search for, whatever its case. It is stored sealed, and only until the run ends',
      ),
    from: z.string().max(40).optional().describe('With `to`, instead of `last`'),
    to: z.string().max(40).optional(),
    before: z
      .int()
      .min(0)
      .optional()
      .describe(
        'Configuration number of the side *before*. Defaults to the published configuration; without an edit, to the one before the newest change of `notifications`',
      ),
    after: z
      .int()
      .min(0)
      .optional()
      .describe('Configuration number of the side *after*, without an edit. Defaults to the published configuration'),
    drafts: z.boolean().optional().describe('The edit is the drafts of the workspace'),
    folder: folderBody
      .pick({ files: true, prune: true })
      .optional()
      .describe('The edit is this folder, without the files of other workspaces'),
    notifications: z
      .array(z.string().min(1).max(200))
      .min(1)
      .max(1000)
      .optional()
      .describe('Compares only these. Defaults to every notification that differs'),
  })
  .meta({ id: 'RunRequest' });

const count = z.int();
const perSide = z.object({ before: count, after: count });
const perRowDifference = <Value extends z.ZodType>(value: Value) =>
  z.object(
    Object.fromEntries(ROW_DIFFERENCES.map((name) => [name, value])) as Record<(typeof ROW_DIFFERENCES)[number], Value>,
  );
const slots = Object.fromEntries(DIFFERENCES.map((name) => [name, count])) as Record<
  (typeof DIFFERENCES)[number],
  typeof count
>;
const slotStates = z.object(
  Object.fromEntries(SLOT_STATES.map((name) => [name, count])) as Record<(typeof SLOT_STATES)[number], typeof count>,
);

export const runCountsBody = z
  .object({
    events: count.describe('Events that were evaluated'),
    needs_lookup: count.describe('Events for which a side asks a partner without a recorded answer that fits'),
    no_address: perSide.describe('Messages without a valid address'),
    rule_errors: perSide.describe('Rules and recipients whose evaluation ended in an error'),
    unreadable: count.describe('Events that cannot be parsed'),
    past_retention: count.describe('Events that retention removed during the run'),
    would_wait: perSide.describe('Waits whose deadline is after the end of the range. Their messages are not compared'),
    cold: perSide.describe(
      'Messages of rules with state that are uncertain, because earlier events of the entity were not read',
    ),
    differences: nullable(z.object(slots)).describe('Messages by difference; null until the range is read'),
    slot_states: nullable(perRowDifference(slotStates)).describe('Rows by difference and slot state'),
    people: nullable(perRowDifference(count)).describe('People by difference; a person counts once in each'),
    notified_people: nullable(perRowDifference(count)).describe(
      'People all of whose messages of this difference were sent already',
    ),
    by_rule: z.array(z.object({ rule: z.string(), ...slots })),
    by_day: z
      .array(z.object({ day: z.string().describe('In UTC: `2026-11-29`'), ...perRowDifference(count).shape }))
      .describe('Days on which a message differs, oldest first'),
  })
  .meta({ id: 'RunCounts' });
export type RunCountsBody = z.infer<typeof runCountsBody>;

export const verifiedCountsBody = z
  .object({
    events: count.describe('Events that were evaluated again'),
    same: count.describe('Outputs that are as the log gives them'),
    missing: count.describe('Outputs that an event gives and the log does not have'),
    no_cause: count.describe('Outputs on the log that no event gives'),
    different: count.describe('Outputs of which a field differs'),
    unknown_configuration: count.describe('Events before the first marker of their partition'),
    other_semantics: count.describe('Events that another release may have evaluated'),
    not_evaluated: count.describe('Records that the engine had not evaluated when the run began'),
    unreadable: count.describe('Events that cannot be parsed, or that are dead letters'),
    past_retention: count.describe('Events and outputs that retention has removed, or whose cause it has removed'),
    not_from_events: count.describe('Outputs of test sends and of jobs that send missing messages'),
    would_wait: count.describe('Waits that no record of the range ends. Their messages are not compared'),
    cold: count.describe(
      'Outputs of rules with state that are not compared, because earlier events of the entity were not read',
    ),
  })
  .meta({ id: 'VerifiedCounts' });
export type VerifiedCountsBody = z.infer<typeof verifiedCountsBody>;

export const runFindingBody = z
  .object({
    problem: z.enum(PROBLEMS),
    output: z.enum(OUTPUTS).describe('A message, or a question to a partner'),
    id: z.string().describe('Id of the intent or the trigger'),
    field: nullable(z.string()).describe('The first field that differs; null unless `different`'),
    rule: z.string().describe('`notification.rule`'),
    event: z.string(),
    event_position: z.string().describe('`topic/partition@offset`'),
    position: nullable(z.string()).describe('Of the output; null: it is missing'),
  })
  .meta({ id: 'RunFinding' });
export type RunFindingBody = z.infer<typeof runFindingBody>;
export const runFindingPage = pageOf(runFindingBody).meta({ id: 'RunFindingPage' });

export const runBody = z
  .object({
    id: z.string(),
    workspace: z.string(),
    kind: z.enum(RUN_KINDS),
    state: z.enum(JOB_STATES).describe('The state of its job'),
    from: time,
    to: time,
    log_starts_at: nullable(time).describe(
      'Append time of the oldest event if the log starts later than `from`; else null',
    ),
    before: nullable(z.int()).describe('Configuration number of the side *before*; null: it is no comparison'),
    published: z
      .int()
      .describe(
        'The configuration that was published when it started. A comparison applies the edit to it for the side *after*',
      ),
    changes: z
      .array(
        z.object({
          kind: z.string(),
          name: z.string(),
          action: z.enum(['create', 'update', 'delete']),
          revision: nullable(z.string()).describe('Author of the draft. Null: from a folder'),
        }),
      )
      .describe('The edit. Empty: *after* is the published configuration'),
    notifications: z.array(z.string()).describe('Notifications that are compared'),
    not_compared: z
      .array(z.object({ kind: z.string(), name: z.string() }))
      .describe(
        'Edited integrations, streams and workspace settings: what they change is not compared. Recorded answers stay as they are',
      ),
    progress: z.object({ read: z.int(), total: z.int() }).describe('Records of the range'),
    counts: nullable(runCountsBody).describe('Of a comparison. Null until the first report'),
    verified: nullable(verifiedCountsBody).describe('Of a verification. Null until the first report'),
    sentence: open(z.string()).nullable().describe('The result in words; null until the run is done'),
    warning: open(z.string())
      .nullable()
      .describe('Shown before every number: the edit changes `unique_id`; null: it does not'),
    find: nullable(
      z.object({
        events: count.describe('Events of the workspace that were searched'),
        found: count.describe('Events that hold the text'),
        kept: count.describe('The newest of them, which `why-not` takes by the id of the run'),
        text_hash: z.string().describe('Keyed hash of the text'),
      }),
    ).describe('The result of a search; null for other kinds, and until the first report'),
    notes: z
      .array(open(z.string()))
      .describe(
        'What the numbers leave out, a sentence each: events that need a lookup, messages without an address, errors',
      ),
    checksum: open(z.string()).nullable().describe('SHA-256 over the result; null until the run is done'),
    reason: nullable(z.object({ code: z.string(), detail: z.string() })).describe(
      'Why it failed or was cancelled. `code` is a code of the table of errors, `cancelled` or `rights_lost`',
    ),
    job: z.string().describe('The job that executes it; `POST …/jobs/{id}/cancel` cancels the run'),
    created_by: actorBody,
    created_at: time,
    ended_at: nullable(time),
    kept_until: nullable(time).describe('When it is deleted with its rows; null: it has not ended'),
  })
  .meta({ id: 'Run' });
export type RunBody = z.infer<typeof runBody>;
export const runPage = pageOf(runBody).meta({ id: 'RunPage' });

export const runRowBody = z
  .object({
    slot: z.string().describe('Id that the delivery of this message has'),
    difference: z.enum(ROW_DIFFERENCES),
    slot_state: z
      .enum(SLOT_STATES)
      .describe('What the delivery ledger knows; for `new_unique_id` about the message of *before*'),
    slot_state_words: open(z.string()).describe('The slot state and its reason in words'),
    delivery_id: nullable(z.string()).describe('The delivery that the slot state is of; null: there is none'),
    rule: z.string(),
    channel: z.string(),
    event: z.string(),
    at: time.describe('When the event arrived, or the deadline by which the rule fired; RFC 3339, UTC, milliseconds'),
    day: z.string(),
    cold: z.boolean().describe('True if the message is uncertain, because earlier events of the entity were not read'),
    person: nullable(anAddress(z.string())).describe(
      'Null: the event is gone, or no recorded answer of the partner is left',
    ),
    before: nullable(anAddress(z.string())).describe(
      'The address that *before* sends to; null: it sends nothing, or it is not known any more',
    ),
    after: nullable(anAddress(z.string())).describe(
      'The address that *after* sends to; null: it sends nothing, or it is not known any more',
    ),
  })
  .meta({ id: 'RunRow' });
export type RunRowBody = z.infer<typeof runRowBody>;
export const runRowPage = pageOf(runRowBody).meta({ id: 'RunRowPage' });

const runRowSideBody = z
  .object({
    rule: nullable(z.string()).describe('The rule that makes the message; null: this side wants no message'),
    gates: z
      .array(gateBody)
      .describe(
        'Why this side wants the message, or why not, from the event to the address; the first gate that stops has the reason',
      ),
    to: nullable(anAddress(z.string())),
    variables: nullable(ofBodies(z.string())).describe('What the template is given, as JSON text'),
    message: nullable(previewedMessage).describe('Rendered by the templates of this side; nothing is sent'),
  })
  .meta({ id: 'RunRowSide' });
export const runRowContentBody = z
  .object({
    row: runRowBody,
    before: nullable(runRowSideBody).describe('Null: the event is gone'),
    after: nullable(runRowSideBody).describe('Null: the event is gone'),
    note: open(z.string()).nullable().describe('Why the two sides do not show the difference; null: they do'),
  })
  .meta({ id: 'RunRowContent' });
export type RunRowContentBody = z.infer<typeof runRowContentBody>;

export const runMissingBody = z
  .object({
    run: z.string(),
    count: count.describe('What a send has to name: messages, and rules of events that need a lookup'),
    checksum: open(z.string()).describe('What a send has to name: SHA-256 over the slots'),
    since: time.describe('Earlier events are too old. A send that names it means the same events'),
    messages: count.describe('Messages that are sent'),
    people: count.describe('People who get them'),
    by_rule: z.array(z.object({ rule: z.string(), messages: count, people: count })),
    needs_lookup: z
      .object({ events: count, user_ids: count })
      .describe('Events that need a lookup, and their user ids. Zero unless `needs_lookup` is included'),
    oldest: nullable(time).describe('Arrival of their first event. Null: no message is missing'),
    newest: nullable(time).describe('Arrival of their last event. Null: no message is missing'),
    too_old: count.describe('Events with missing messages that arrived before `since`'),
    rows: nullable(z.array(runRowBody)).describe(
      'Up to ten messages, newest event first, with the slot state of now; null: your role sees no names',
    ),
  })
  .meta({ id: 'RunMissing' });
export type RunMissingBody = z.infer<typeof runMissingBody>;

/** Confirmation by a person before missing messages are sent, besides the selection. */
export const runSendRequest = z.strictObject({
  count: z.int().min(1, 'expected the count of a look, from 1').describe('The `count` of the look'),
  checksum: z.string().max(100).describe('The `checksum` of the look'),
  expires: z
    .string()
    .max(40)
    .default('24h')
    .describe('How long a message is of use, from 1s to 30d; after that it is not sent'),
  rate: z
    .int()
    .min(1, 'expected 1 to 1000 messages per second')
    .max(1000, 'expected 1 to 1000 messages per second')
    .default(10)
    .describe('Messages per second'),
});
