import { z } from 'zod';
import { time } from './fields.ts';

/** Bodies of the management API about the accounts that messages go over. */

const callCounts = z.object({
  accepted: z.int().describe('The provider took the message'),
  refused: z.int().describe('The provider refused the recipient, the content or the account'),
  failed: z.int().describe('The call failed or was throttled, so it is tried again'),
  unknown: z.int().describe('The provider gave no answer, so the message may have arrived'),
});

const refusals = z
  .object({
    notification: z.string(),
    calls: z.int().describe('Calls of the last 15 minutes'),
    refused: z.int().describe('Of these, how many the provider refused'),
    high: z.boolean().describe('More than 20 refusals that are at least 10 % of the calls'),
  })
  .describe('Refusals of one notification');

const sendingAccount = z
  .object({
    account: z.string().describe('As attempts name it: `shop/main`, `default`, `default:sms:main`, `sandbox`'),
    owner: z.enum(['workspace', 'deployment']),
    kind: z
      .string()
      .nullable()
      .describe('Such as `smtp`; `sandbox` keeps messages in the inbox. Null: the account was removed since'),
    default: z.boolean().describe('Carries messages of notifications that name no account'),
    calls: callCounts.describe('Calls of the last hour'),
    refusals: z.array(refusals).describe('Notifications with a refusal in the last 15 minutes, most refusals first'),
  })
  .meta({ id: 'SendingAccount' });

export const sendingBody = z
  .object({
    workspace: z.string(),
    from: time,
    to: time,
    complete: z.boolean().describe('False: there are more deliveries than were counted; the newest ones were'),
    channels: z.array(
      z.object({
        channel: z.string(),
        accounts: z.array(sendingAccount).describe('Default accounts first, by priority'),
      }),
    ),
  })
  .meta({ id: 'Sending' });
export type SendingBody = z.infer<typeof sendingBody>;
