import { z } from 'zod';
import { anAddress } from './privacy.ts';

const text = z.string().nullable();

/** A message as its provider was given it. What its channel does not have is null. */
export const messageContent = z.object({
  channel: z.string(),
  to: anAddress(z.string()),
  from: text.describe('Of an email'),
  subject: text.describe('Of an email'),
  html: text.describe('Of an email'),
  text: text.describe('Of an email or SMS'),
  sms: z
    .object({
      encoding: z.enum(['GSM-7', 'UCS-2']),
      segments: z.int().describe('What the carrier bills'),
      units: z.int().describe('Septets of GSM-7, or UTF-16 units of UCS-2'),
      first_outside_gsm: text.describe('The character that makes it UCS-2'),
    })
    .nullable()
    .describe('How an SMS is cut into segments'),
  push: z
    .object({
      title: text,
      body: text,
      image: text,
      link: text,
      data: z.record(z.string(), z.string()).describe('For the app'),
      priority: z.enum(['normal', 'high']).nullable(),
      collapse: text.describe('A later notification with the same key takes the place of this one'),
      android_channel: text,
      apns_sound: text,
    })
    .nullable()
    .describe('A push notification'),
});
export type MessageContentBody = z.infer<typeof messageContent>;

/** A message as it would be sent; `ok` false: it would not, and what was rendered of it is here all the same. */
export const previewedMessage = z.object({
  ok: z.boolean(),
  error: z.string().nullable(),
  ...messageContent.omit({ to: true }).shape,
  links: z
    .object({ unsubscribe: z.string(), preferences: z.string() })
    .nullable()
    .describe(
      'Where a reader stops such messages, here of a test: they change nothing. An email names the first in List-Unsubscribe. Null: transactional, or no public_url',
    ),
  missing: z.array(z.string()),
  fields: z
    .array(z.string())
    .describe(
      'Every variable that rendering may read, including those in other branches. `items[].qty` stands for each element',
    ),
  variant: z.string().nullable().describe('Language of the chosen variant. Null: the variant without a language'),
  notes: z
    .array(z.string())
    .describe('Differences between the data and the rendered message, such as another language'),
});
export type PreviewedMessage = z.infer<typeof previewedMessage>;

export const templatePreviewBody = z
  .object({ template: z.string(), version: z.int(), messages: z.array(previewedMessage) })
  .meta({ id: 'TemplatePreview' });
export type TemplatePreviewBody = z.infer<typeof templatePreviewBody>;

/** A test message that is on its way. What came of it: the delivery of this id, a moment later. */
export const testSentBody = z
  .object({
    delivery_id: z.string(),
    notification: z.string(),
    channel: z.string(),
    to: anAddress(z.string()).describe('In its canonical form'),
    template: z.string(),
    template_version: z.int(),
    notes: z.array(z.string()).describe('What the test does not show, in words'),
    not_after: z.string().describe('Nothing is sent after this; RFC 3339, UTC, milliseconds'),
  })
  .meta({ id: 'TestSent' });
export type TestSentBody = z.infer<typeof testSentBody>;

/** An event that somebody sent by hand. Its story: the event of this id, a moment later. */
export const sentEventBody = z
  .object({ id: z.string(), stream: z.string().describe('Its EVENT_PATH') })
  .meta({ id: 'SentEvent' });
export type SentEventBody = z.infer<typeof sentEventBody>;
