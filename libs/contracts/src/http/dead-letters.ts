import { z } from 'zod';
import { nullable, pageOf, time } from './fields.ts';
import { anAddress, ofBodies } from './privacy.ts';

/** Facts about the record of a dead letter. All are null if the record has left the log or cannot be read. */
const deadLetterFacts = {
  partner: z.string().nullable().describe('The integration of the lookup'),
  notification: z.string().nullable(),
  rule: z.string().nullable().describe('`notification.rule`'),
  person: anAddress(z.string()).nullable().describe('The recipient, or the first user id of the lookup'),
  people: z.int().describe('How many people the record is about; 0: not known'),
  event_id: z.string().nullable(),
  redrive: z.string().nullable().describe('What a redrive does; null: the record cannot be redriven, or is gone'),
};
export type DeadLetterFactsBody = z.infer<z.ZodObject<typeof deadLetterFacts>>;

export const deadLetterBody = z
  .object({
    id: z.string(),
    workspace: z.string().nullable(),
    stage: z.string(),
    position: z.string(),
    reason: z.string(),
    at: time,
    redriven_at: nullable(time),
    redriven_by: z.string().nullable().describe('Who put its record on the log once more'),
    dismissed_at: nullable(time),
    dismissed_by: z
      .string()
      .nullable()
      .describe('Who said that nothing is to be done about it; receipts and refused changes (stage `append`) alone'),
    ...deadLetterFacts,
  })
  .meta({ id: 'DeadLetter' });
export const deadLetterPage = pageOf(deadLetterBody).meta({ id: 'DeadLetterPage' });
export type DeadLetterBody = z.infer<typeof deadLetterBody>;

export const parkedReceiptBody = z
  .object({
    id: z.string(),
    workspace: z
      .string()
      .nullable()
      .describe('Workspace whose account verified it. Null: the deployment’s account, or none'),
    reason: z.string(),
    source: z
      .string()
      .nullable()
      .describe('Provider that reported it. Null, like the other fields, if it cannot be read'),
    account: z.string().nullable(),
    verdict: z.string().nullable(),
    code: z.string().nullable(),
    detail: ofBodies(z.string())
      .nullable()
      .describe('In the words of the provider; null without the permission `bodies`'),
    delivery_id: z.string().nullable().describe('Attempt token of the receipt, which matches no attempt'),
    attempt: z.int().nullable(),
    wish: z.string().nullable().describe('`stop` or `start`: a person replied to one of your numbers'),
    address: anAddress(z.string()).nullable().describe('Who wrote; null without the permission `bodies`'),
    received_at: nullable(time),
    parked_at: time,
    position: z.string(),
    dismissed_at: nullable(time),
    dismissed_by: z.string().nullable(),
  })
  .meta({ id: 'ParkedReceipt' });
export const parkedReceiptPage = pageOf(parkedReceiptBody).meta({ id: 'ParkedReceiptPage' });
export type ParkedReceiptBody = z.infer<typeof parkedReceiptBody>;
