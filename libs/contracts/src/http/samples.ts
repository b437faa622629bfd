import { z } from 'zod';
import { next } from './fields.ts';
import { OPEN, open } from './privacy.ts';

/** Sample of the events that a client of a rule's stream has to send, with code that sends it. */
export const ruleSampleBody = z
  .object({
    rule: z.string(),
    rule_version: z.int(),
    stream: z.string(),
    url: z.string().describe('Where events of the stream are posted. Empty for changes of a database'),
    credential: z.object({
      kind: z.enum(['api_key', 'jwt']),
      variable: z.string().describe('Environment variable that the code reads it from'),
      advice: z.string(),
    }),
    event: z.string().describe('JSON text with the fewest fields that the rule and its templates can use'),
    change: z
      .string()
      .nullable()
      .describe(
        'JSON text of a change with `event` as its row, for testing the rule. Null: events of the stream are sent',
      ),
    earlier: z
      .array(
        z.object({
          event: z.string().describe('JSON text'),
          times: z.int().describe('How many times it is sent'),
        }),
      )
      .describe('Events of the same entity to send first, oldest first. Empty: `event` alone is enough'),
    sentence: z
      .string()
      .nullable()
      .describe('When the rule fires after the event, such as `1h after the first such event`. Null: at the event'),
    fires: z
      .boolean()
      .describe('Whether the rule fires for exactly this event. A rule with state was tried by rehearsal'),
    recipients: z.int().describe('Number of people it notifies, or of user ids it looks up'),
    asks: z.string().nullable().describe('The integration that names the recipients, if the event does not'),
    answered: z.array(z.string()).describe('Names of templates that the answer of that partner has to give'),
    fields: z.array(
      z.object({
        path: z.string(),
        type: z.string().nullable().describe('Null where any value does'),
        used_by: z.array(z.string()),
        value: z.string().describe('JSON text; in lists that of the first element'),
        origin: z
          .enum(['condition', 'fired_event', 'placeholder', 'absent'])
          .describe('Origin of the value: the condition, an event that fired, a placeholder, or not in the event'),
      }),
    ),
    whole_event: z
      .array(z.string())
      .describe('Places that use the event as a whole, so that no list of fields is enough'),
    code: z.object({ curl: z.string(), javascript: z.string(), python: z.string(), go: z.string() }),
  })
  .meta({ id: 'RuleSample', ...OPEN });
export type RuleSampleBody = z.infer<typeof ruleSampleBody>;

/** A field that events of a stream were seen to have. Samples are data of persons. */
export const streamFieldBody = z
  .object({
    path: z.string().describe('`customer.email`; `items[].qty` for the elements of a list'),
    types: z.array(z.string()),
    sample: z
      .string()
      .nullable()
      .describe(
        'Beginning of the newest value as JSON text; null for objects and lists, and without the permission bodies',
      ),
    first_seen: z.string().describe('RFC 3339, UTC, milliseconds'),
    last_seen: z.string().describe('RFC 3339, UTC, milliseconds'),
    count: z.int().describe('Events that had it'),
    tables: z
      .array(open(z.string()))
      .describe('Tables whose changes had it, as `schema.table`; empty for events that were sent'),
  })
  .meta({ id: 'StreamField' });
export const streamFieldPage = z
  .object({
    stream: z.string().describe('Its EVENT_PATH'),
    source: z
      .object({
        integration: open(z.string()).describe('Its tables have the columns: `integrations/{name}/tables`'),
        tables: z.array(
          z.object({
            table: open(z.string()),
            key: z.string().describe('Path of the key'),
            without: z.array(open(z.string())).describe('Its columns that no event has'),
          }),
        ),
      })
      .nullable()
      .describe('Database whose changes are its events; null for a stream to which events are sent'),
    items: z.array(streamFieldBody),
    next,
  })
  .meta({ id: 'StreamFieldPage' });
/** Variables that a partner was seen to answer. */
export const answerFieldPage = z
  .object({
    integration: z.string(),
    people: z.int().describe('People in its newest answers that were looked at'),
    items: z.array(
      z
        .object({
          path: z.string().describe('As templates name it: `first_name`; `cards[].last4` for the elements of a list'),
          types: z.array(z.string()),
          sample: z
            .string()
            .nullable()
            .describe(
              'Beginning of a value as JSON text; null for objects and lists, and without the permission bodies',
            ),
          count: z.int().describe('Number of people in the answer'),
        })
        .meta({ id: 'AnswerField' }),
    ),
    next,
  })
  .meta({ id: 'AnswerFieldPage' });
export type StreamFieldBody = z.infer<typeof streamFieldBody>;
export type StreamFieldPage = z.infer<typeof streamFieldPage>;

/** Variables that a template's messages would lack, counted over the newest events whose rules send it. */
export const missingVariablesBody = z
  .object({
    template: z.string(),
    version: z.int(),
    events: z
      .int()
      .describe(
        'Newest events of the streams whose rules send it that were looked at: at most 1,000, or 200 if one of the rules has state',
      ),
    since: z.string().nullable().describe('Arrival of the oldest; RFC 3339, UTC. Null: there is none'),
    sending: z.int().describe('Of them, those for which a rule would send it'),
    failed: z.int().describe('Of those, the ones of which no message could be made'),
    variables: z
      .array(
        z.object({
          variable: z.string().describe('`customer.name`; `items[].price` of the elements of a list'),
          missing: z.int().describe('Events whose message lacked it'),
          event_id: z.string().describe('The newest of them'),
        }),
      )
      .describe('Those that are missing most often first; what a template asks about is not missing'),
  })
  .meta({ id: 'MissingVariables' });
export type MissingVariablesBody = z.infer<typeof missingVariablesBody>;
