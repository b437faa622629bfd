import { z } from 'zod';
import { nullable } from './fields.ts';
import { ofBodies } from './privacy.ts';

const time = z.string().describe('RFC 3339, UTC, milliseconds');
const rule = z.string().nullable().describe('`notification.rule`; null: no rule of the stream any more');
const ruleId = z.string().describe('Its `id`, else `workspace/notification.rule`');

/** State of one entity of a stream, described for each rule. */
export const entityBody = z
  .object({
    stream: z.string().describe('EVENT_PATH'),
    key: z.string(),
    rules: z.array(
      z.object({
        rule,
        rule_id: ruleId,
        words: z.array(z.string()).describe('State of the rule, such as `waits until …`'),
        sentence: z.string().describe('When the rule fires after a match'),
        waits_until: nullable(time).describe('Deadline of the wait; null: the entity does not wait by this rule'),
        event: z.string().nullable().describe('The event that the message of the wait will be made from'),
      }),
    ),
    decisions: z
      .array(
        z.object({
          at: time,
          rule,
          rule_id: ruleId,
          event: z.string(),
          waited_for: z.string().nullable().describe('The event of the wait that the decision ended or took over'),
          words: z.array(z.string()),
        }),
      )
      .describe('The newest 16, the newest first'),
    events: z
      .array(z.object({ id: z.string(), at: time, body: ofBodies(z.string()).nullable() }))
      .describe('Events that a wait or `previous` still needs, the oldest first'),
  })
  .meta({ id: 'Entity' });
/** An entity that rules forget once the engine has read the record. */
export const forgottenEntityBody = z
  .object({ stream: z.string().describe('EVENT_PATH'), key: z.string() })
  .meta({ id: 'ForgottenEntity' });
/** Entities that wait by one rule. */
export const ruleWaitingBody = z
  .object({
    rule: z.string(),
    can_wait: z.boolean().describe('False: the rule decides at its event'),
    entities: z.int().describe('Entities that wait by the rule; counted up to 10,000'),
    next_deadline: nullable(time),
    late_events: nullable(
      z.object({
        count: z.int(),
        complete: z.boolean().describe('False: there may be more'),
      }),
    ).describe(
      'Events of the last day that came more than the grace after their time; null: the stream has no `time` path',
    ),
  })
  .meta({ id: 'RuleWaiting' });

export type ForgottenEntityBody = z.infer<typeof forgottenEntityBody>;
export type EntityBody = z.infer<typeof entityBody>;
