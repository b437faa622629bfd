import { z } from 'zod';
import { keys, said, text } from './shape-parts.ts';

const strict = said(z.boolean().exactOptional(), {
  description: 'true: a missing variable fails the message instead of being empty.',
  default: false,
});

/** What email.yaml holds. */
export const emailHead = {
  subject: said(text(998), { description: 'Subject, a template.', example: 'Order {{ order_id }} is paid' }),
  from: said(text(998).exactOptional(), {
    description: 'Sender, `Name <address>` or an address.',
    otherwise: 'the account’s',
    example: 'Shop <shop@example.com>',
  }),
  strict,
};
const emailBody = (type: string) => z.string().meta({ description: `${type} of the message, a template.` });

export const emailTemplateShape = keys({
  ...emailHead,
  html: emailBody('HTML').exactOptional(),
  text: emailBody('Text').exactOptional(),
});
/** The whole of it is sms.txt. */
export const smsTemplateShape = keys({
  text: z.string().meta({ description: 'The text message, a template.' }),
});

/** Names that FCM keeps for itself. */
const DATA_KEY = /^(?!from$|message_type$|google|gcm|__proto__$)[A-Za-z0-9_.-]{1,64}$/;
const DATA_WORDS =
  'a name of letters, digits, _, . and - (at most 64; not from, message_type, google… or gcm…, which Firebase keeps)';
/** What push.yaml holds. */
export const pushTemplateShape = keys({
  title: said(text(998).exactOptional(), { description: 'First line, a template.', example: 'Order {{ order_id }}' }),
  body: said(text(8192).exactOptional(), {
    description: 'Text below the title, a template.',
    example: '{{ total }} paid',
  }),
  image: said(text(2000).exactOptional(), {
    description: 'Picture, a template: an https address. Nothing is shown where it comes out empty.',
    example: 'https://shop.example.com/{{ sku }}.png',
  }),
  link: said(text(2000).exactOptional(), {
    description: 'Where a tap leads, a template: an https address. The app gets it as the field `link` of the data.',
    example: 'https://shop.example.com/orders/{{ order_id }}',
  }),
  data: said(z.record(z.string().regex(DATA_KEY, { error: DATA_WORDS }), z.string().max(8192)).exactOptional(), {
    description: 'Fields for the app, each a template. Nobody sees them.',
    example: { order: '{{ order_id }}' },
  }),
  priority: said(z.enum(['normal', 'high']).exactOptional(), {
    description: '`high` wakes a sleeping phone.',
    otherwise: 'Firebase’s',
  }),
  collapse: said(text(998).exactOptional(), {
    description: 'A later notification with the same key takes the place of this one. A template; at most 64 bytes.',
    example: 'order-{{ order_id }}',
  }),
  android: said(
    keys({
      channel: said(text(200).exactOptional(), { description: 'Notification channel of the app.', example: 'orders' }),
    }).exactOptional(),
    { description: 'For Android alone.' },
  ),
  apns: said(
    keys({
      sound: said(text(200).exactOptional(), {
        description: 'Sound file of the app, or `default`.',
        example: 'default',
      }),
    }).exactOptional(),
    { description: 'For Apple’s devices alone.' },
  ),
  strict,
});

/**
 * By channel. A folder keeps them in files of their own: email.yaml, email.html and email.txt; sms.txt; push.yaml.
 */
export const templateShape = keys({
  email: emailTemplateShape.exactOptional(),
  sms: smsTemplateShape.exactOptional(),
  push: pushTemplateShape.exactOptional(),
}).refine((body) => Object.keys(body).length > 0, { error: 'email, sms or push' });
