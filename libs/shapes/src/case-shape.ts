import { z } from 'zod';
import { keys, SLUG_WORDS, SLUG } from './shape-parts.ts';

const text = z.string().exactOptional();

/** Fields of a message that a case may compare. */
const message = keys({
  channel: z.enum(['email', 'sms', 'push']).exactOptional(),
  email: text,
  phone: text,
  token: text,
  person: text,
  unique_id: text,
  from: text,
  subject: text,
  text,
  html: text,
  title: text,
  body: text,
});
export type ExpectedMessage = z.infer<typeof message>;

const object = z.record(z.string(), z.unknown(), { error: 'keys and values' });

const step = keys({
  at: text,
  event: object.exactOptional(),
  op: text,
  previous: z.union([object, z.null()]).exactOptional(),
  message: message.exactOptional(),
  until: text,
}).refine((line) => [line.event, line.message, line.until].filter((part) => part !== undefined).length === 1, {
  error: 'one of event, message and until in each line',
});
export type CaseStep = z.infer<typeof step>;

/** A file of cases, `workspaces/<name>/tests/*.yaml`: events that a rule meets, and the messages that they lead to. */
export const casesShape = keys({
  rule: z.string().regex(/^[^.\s]+\.[^.\s]+$/, { error: 'notification.rule, such as order-paid.paid' }),
  lookups: z
    .record(z.string().regex(SLUG, { error: SLUG_WORDS }), z.record(z.string(), z.union([object, z.null()])))
    .exactOptional(),
  cases: z
    .record(z.string(), z.array(step).min(1, { error: 'a line or more' }))
    .refine((cases) => Object.keys(cases).length > 0, { error: 'a case or more, each by its name' }),
});
export type CaseFileBody = z.infer<typeof casesShape>;
