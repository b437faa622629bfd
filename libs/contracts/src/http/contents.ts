import { z } from 'zod';

const time = z.string().describe('RFC 3339, UTC, milliseconds');

/** Content of an event, as it was received. */
export const eventContentBody = z
  .object({
    id: z.string(),
    stream: z.string(),
    at: time,
    bytes: z.int(),
    position: z.string(),
    config_number: z.int().describe('Configuration that evaluated the event. It decides who may read which field'),
    copies: z.int().describe('Number of events with this id'),
    gone: z.string().nullable().describe('Why the body cannot be shown; null: it is'),
    fields: z
      .array(
        z.object({
          path: z.string(),
          read_by: z.array(z.string()),
          is_there: z.boolean().describe('False: the event has no such field'),
        }),
      )
      .describe('What the stream, its rules and their templates read'),
    whole: z.array(z.string()).describe('What reads the event as a whole'),
    lines: z
      .array(z.object({ text: z.string(), read_by: z.array(z.string()) }))
      .describe('The body as indented JSON. A line longer than 1,000 characters is folded: what follows begins with …'),
    next: z.string().nullable().describe('Cursor of the next lines; null at the end'),
  })
  .meta({ id: 'EventContent' });
export type EventContentBody = z.infer<typeof eventContentBody>;

const textBody = z.object({
  name: z.string(),
  text: z.string(),
  characters: z.int().describe('Of the whole text'),
  next: z.string().nullable().describe('Cursor of the next part, passed as `part`. Null at the end'),
});

/** Content of a delivery's message, sent or not. */
export const deliveryContentBody = z
  .object({
    id: z.string().describe('Of the delivery'),
    channel: z.string(),
    to: z.string().nullable(),
    template: z.string(),
    template_version: z.int(),
    config_number: z.int(),
    parts: z
      .array(textBody)
      .describe('Variables as JSON, then the message part by part, rendered again from what was recorded'),
    missing: z.array(z.string()).describe('Names that the template looked for in vain: each became empty text'),
    notes: z
      .array(z.string())
      .describe('Differences between the data and the rendered message, such as another language'),
    problem: z.string().nullable().describe('Why it cannot be rendered; null: it can'),
    replies: z.array(
      z.object({
        attempt: z.string(),
        at: time,
        account: z.string(),
        verdict: z.string().nullable().describe('Null: no answer is known'),
        code: z.string(),
        words: z.string().describe('Answer of the provider without addresses and credentials'),
        provider_id: z.string().nullable().describe('What the provider calls the message, such as a queue id'),
      }),
    ),
  })
  .meta({ id: 'DeliveryContent' });
export type DeliveryContentBody = z.infer<typeof deliveryContentBody>;
