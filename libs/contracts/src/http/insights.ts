import { z } from 'zod';
import { open } from './privacy.ts';

/** Bodies of the management API that tell how many, not which. */
const time = z.string().describe('RFC 3339, UTC, milliseconds');
const counts = z.record(z.string(), z.int()).describe('Deliveries by state. States without deliveries are not listed');

export const insightsBody = z
  .object({
    workspace: z.string(),
    from: time,
    to: time,
    bucket: z.string().describe('Length of a bucket, such as `1h`'),
    notification: z.string().nullable().describe('The requested notification. Null: all'),
    states: counts.describe('Deliveries that were created in the span, by the state that they are in now'),
    messages: z.int().describe('Of these, those that a provider took: sent, delivered or complained about'),
    people: z
      .int()
      .nullable()
      .describe('Number of people these messages went to. Null if one notification was requested'),
    buckets: z
      .array(z.object({ at: time.describe('Where the bucket begins'), states: counts }))
      .describe('Oldest first, each bucket of the span, those of no deliveries among them'),
    notifications: z
      .array(z.object({ notification: z.string(), states: counts }))
      .describe('The same by notification, the one with the most first; only of the whole workspace'),
    in_doubt: z.object({
      deliveries: z.int().describe('In doubt now, whenever they were created'),
      complete: z.boolean().describe('False: there are more than were counted'),
    }),
    failing_accounts: z
      .array(
        z.object({
          account: z.string(),
          reason: z.string(),
          sentence: open(z.string()).describe('What the reason means, in lower case and without a full stop'),
          deliveries: z.int(),
        }),
      )
      .describe('Accounts that messages of the last hour wait for, or ended by'),
    lag: z.object({
      records: z
        .int()
        .describe('Records of the log that events, messages and lists still wait for; of the whole deployment'),
    }),
  })
  .meta({ id: 'Insights' });
export type InsightsBody = z.infer<typeof insightsBody>;
