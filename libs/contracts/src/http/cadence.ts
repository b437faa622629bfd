import { z } from 'zod';

const instant = z.string().nullable();

/** What would meet a message to a person on one channel. */
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
