import { z } from 'zod';
import { nullable, time } from './fields.ts';
import { previewedMessage } from './message-content.ts';
import { anAddress, ofBodies } from './privacy.ts';

const explainedPart = { source: z.string(), depth: z.int(), value: z.string() };

/** What a rule that fires comes to: whom it notifies, or whom it asks about. */
const firing = {
  asks: z
    .object({ integration: z.string(), user_ids: z.array(z.string()) })
    .nullable()
    .describe('The partner and user ids of the lookup. Null if the event names the recipients'),
  answered: z.string().nullable().describe('Answer of the partner if it was called. Null: not called'),
  problems: z.array(z.string()).describe('What was not as it should be in the answer'),
  recipients: z.array(
    z.object({
      to: anAddress(z.record(z.string(), z.string().nullable())),
      unique_id: z.string(),
      person: z.string(),
      variables: z.string().describe('JSON text'),
      messages: z.array(previewedMessage),
      name: ofBodies(z.string())
        .nullable()
        .describe('Name of the person from the event or the partner. Null if neither has it'),
      already_told: z.string().nullable().describe('The delivery that holds the slot, if one does'),
      notified_already: z
        .boolean()
        .describe('Whether a delivery holds the slot of each of their messages, so that this event sends nothing'),
    }),
  ),
  dropped: z.array(z.string()),
};

/** What a rule makes of an event of a test, or of a deadline that passes in it. */
const ruleTestStep = z
  .object({
    at: time.describe('Time of the event or the deadline'),
    kind: z.enum(['event', 'deadline']),
    event: z
      .int()
      .nullable()
      .describe(
        'Place of the event in `events`, from 0. At a deadline, the event from which the message is made; null: one of before the test',
      ),
    event_id: z.string(),
    entity: ofBodies(z.string())
      .nullable()
      .describe('Entity of the event: the value at the key of the stream. Null on a stream without a key'),
    fired: z.boolean(),
    outcome: z.string(),
    error: z.string().nullable(),
    totals: z
      .record(z.string(), z.union([z.number(), z.string()]))
      .describe('Totals of the rule at this step, by name: a number, or text such as `500+` for a full total'),
    decisions: z.array(z.string()).describe('Sentences about what the rule decided, such as `waits until …`'),
    explained: z
      .array(z.object({ field: z.string().describe('Key of the rule, such as `when`'), ...explainedPart }))
      .describe('Parts of the expressions of the rule with their values. Empty at a deadline'),
    waits_until: nullable(time).describe('Deadline for which the entity waits after this step. Null: it does not wait'),
    ...firing,
  })
  .meta({ id: 'RuleTestStep' });
export type RuleTestStep = z.infer<typeof ruleTestStep>;

export const ruleTestBody = z
  .object({
    rule: z.string(),
    rule_version: z.int(),
    stream: z.string(),
    fired: z
      .boolean()
      .describe('This and what follows, but `timeline`, is of the first step that fires, or of the last event'),
    outcome: z.string(),
    error: z.string().nullable(),
    explained: z.array(z.object(explainedPart)).describe('Parts of `when` with their values'),
    ...firing,
    timeline: z.array(ruleTestStep).describe('Each event, and each deadline that passes, in the order of time'),
  })
  .meta({ id: 'RuleTest' });
export type RuleTestBody = z.infer<typeof ruleTestBody>;
