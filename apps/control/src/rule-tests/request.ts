import { configurationFiles } from '@carillon/contracts';
import { CHANGE_LIMITS } from '@carillon/domain/events';
import { MOMENT_WORDS } from '@carillon/insight';
import { z } from 'zod';

/** Maximum events of one test. It equals the events that a total keeps, so every sample fits. */
export const MAX_TESTED_EVENTS = 500;

const text = z.string().max(CHANGE_LIMITS.bytes).optional();
const moment = z.string().max(40).optional();

const testedEvent = z
  .strictObject({
    at: moment.describe(
      `When the event comes: ${MOMENT_WORDS}. Defaults to the time of the line before, for the first line to now, and for an \`event_id\` to the time at which the event came`,
    ),
    event: text.describe('The event as JSON text, or a change as in `event` beside the list'),
    event_id: z.string().max(100).optional().describe('Instead of it: an event that is on the log'),
    op: z.string().max(20).optional().describe('On a stream of changes: the kind of change. `event` is then its row'),
    previous: text.describe('On a stream of changes, with `op`: the row before, as JSON text'),
  })
  .meta({ id: 'TestedEvent' });
export type TestedEvent = z.infer<typeof testedEvent>;

export const testRequest = z.strictObject({
  event: text.describe(
    'The event as JSON text, read as the intake would. On a stream that reads a database a change: `{"op": "update", "event": {…}, "previous": {…}}`',
  ),
  event_id: z.string().max(100).optional().describe('Instead of it: an event that is on the log'),
  events: z
    .array(testedEvent)
    .min(1)
    .max(MAX_TESTED_EVENTS)
    .optional()
    .describe('Instead of both: events in the order of time, for a rule that looks at more than one'),
  until: moment.describe(`Deadlines up to this moment pass: ${MOMENT_WORDS}. Left out, all deadlines pass`),
  entity: z
    .string()
    .min(1)
    .max(1024)
    .optional()
    .describe(
      'Value at the key of the stream. The test begins with what the rule remembers of it, for whoever may see bodies',
    ),
  files: configurationFiles
    .optional()
    .describe('Judges by what applying this folder would make; left out: by what is published'),
  drafts: z
    .boolean()
    .default(false)
    .describe('Judges by what is published with the drafts of the workspace; not with `files`'),
  answer: z
    .string()
    .max(1_048_576)
    .optional()
    .describe(
      'Of a rule that asks a partner: its answer as JSON text, [{"to": …, "variables": …}], each time that the rule asks',
    ),
  ask_partner: z
    .boolean()
    .default(false)
    .describe(
      'Of a rule that asks a partner: calls it in earnest, as the engine would, for whoever may check credentials, with `files` for whoever may publish them; not with `answer` or several `events`',
    ),
});
export type TestRequest = z.infer<typeof testRequest>;
