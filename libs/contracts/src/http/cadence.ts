import { z } from 'zod';

const instant = z.string().nullable();

/** Result of the cadence checks for a message to a person on one channel. */
export const explainedChannel = z.object({
  channel: z.string(),
  verdict: z
    .enum(['sent', 'held', 'dropped', 'collected', 'perhaps'])
    .describe('`collected`: it goes into a digest. `perhaps`: it depends on messages that are being sent this moment'),
  reason: z
    .enum(['rule_withdrawn', 'quiet_hours', 'capped'])
    .nullable()
    .describe(
      'Why it would be dropped, as its delivery would say. `rule_withdrawn`: the notification or all its rules are switched off. Null: it would not be',
    ),
  until: instant.describe('When a held one goes; RFC 3339, UTC, milliseconds'),
  quiet_hours: z
    .object({ then: z.enum(['hold', 'drop']), until: z.string() })
    .nullable()
    .describe('Null: it is not quiet'),
  limits: z.array(
    z.object({
      limit: z.string(),
      max: z.int(),
      then: z.enum(['drop', 'hold', 'digest']),
      count: z.int().describe('Messages that count now'),
      under_way: z.int().describe('Those among them that are being sent this moment: they may not count'),
      filled_by: z.array(z.string()).describe('Ids of the deliveries that count'),
      room_from: instant.describe('When there is room again; null: now'),
    }),
  ),
});

export const explainedCadenceBody = z
  .object({
    notification: z.string(),
    at: z.string(),
    time_zone: z.string(),
    transactional: z.boolean().describe('true: neither quiet hours nor limits count'),
    notes: z.array(z.string()).describe('What counts whatever quiet hours and limits say, in words'),
    channels: z.array(explainedChannel),
  })
  .meta({ id: 'ExplainedCadence' });
export type ExplainedCadenceBody = z.infer<typeof explainedCadenceBody>;

const simulatedMessage = z.object({
  delivery_id: z.string(),
  channel: z.string(),
  caused_at: z.string(),
  fate: z
    .enum(['sent', 'held', 'digested', 'dropped'])
    .describe('`sent`: when it was due. `held`: later. `digested`: with others, in one message'),
  at: z.string().describe('When it goes, or is dropped'),
  by: z.string().nullable().describe('What held or dropped it'),
  filled_by: z.array(z.string()).describe('Deliveries that used a limit up, ten at most'),
  digest: z.int().nullable().describe('Items of one digest have the same number'),
});
const simulatedRun = z
  .object({
    messages: z.int(),
    people: z.int(),
    people_touched: z.int().describe('Those who do not get every message when it is due'),
    at_once: z.int(),
    held: z.int(),
    held_median: z.int().nullable().describe('Seconds; null: none is held'),
    digested: z.int(),
    digests: z.int(),
    dropped: z.int(),
    dropped_by: z.array(z.object({ by: z.string(), count: z.int() })),
    buckets: z
      .array(z.object({ at: z.string(), came: z.int(), went: z.int(), dropped: z.int() }))
      .describe('What was caused, goes out and is dropped in each hour, or in longer bars of a long time'),
    most_touched: z
      .array(
        z.object({
          person: z.string().nullable().describe('Null for callers who may not see event contents'),
          messages: z.array(simulatedMessage),
          more: z.int().describe('Messages of the same person that are not listed'),
        }),
      )
      .describe('The twelve people whose messages it changes most'),
  })
  .meta({ id: 'SimulatedRun' });

export const simulatedCadenceBody = z
  .object({
    from: z.string(),
    to: z.string(),
    history: z.enum(['own', 'example']).describe('`example`: nothing was sent in this time'),
    words: z.string().describe('What was sent again'),
    is_sample: z.boolean().describe('There were more: these are the newest'),
    faults: z.array(
      z.object({
        resource: z.string(),
        kind: z.string(),
        name: z.string(),
        path: z.string(),
        code: z.string(),
        facts: z.record(z.string(), z.string()),
        message: z.string(),
        fix: z.string(),
      }),
    ),
    now: simulatedRun.describe('By the configuration as it is published'),
    proposed: simulatedRun.nullable().describe('With the bodies that were sent; null: none, or they have faults'),
  })
  .meta({ id: 'SimulatedCadence' });
export type SimulatedCadenceBody = z.infer<typeof simulatedCadenceBody>;
