import { isLocale } from '@carillon/kernel';
import { z } from 'zod';
import { keys, said, slug, text } from './shape-parts.ts';

const strict = said(z.boolean().exactOptional(), {
  description: 'true: a missing variable fails the message instead of being empty.',
  default: false,
});

const subject = said(text(998), { description: 'Subject, a template.', example: 'Order {{ order_id }} is paid' });
const from = said(text(998).exactOptional(), {
  description: 'Sender, `Name <address>` or an address.',
  otherwise: 'the account’s',
  example: 'Shop <shop@example.com>',
});
const preheader = said(text(998).exactOptional(), {
  description: 'Preview text shown next to the subject in lists, a template. Hidden at the start of the HTML.',
  otherwise: 'they show the beginning of the body',
  example: 'It leaves us today',
});
const layout = (otherwise: string) =>
  said(slug.exactOptional(), {
    description: 'Name of the layout around the bodies, of `layouts/`.',
    otherwise,
    example: 'basic',
  });
/** What email.yaml holds. */
export const emailHead = { subject, preheader, from, layout: layout('none'), strict };
/** What email.<language>.yaml holds. */
export const emailVariantHead = { subject, preheader, from, layout: layout('that of email.yaml') };

const bodyOf = (words: string) =>
  z
    .string()
    .meta({ description: `${words}, a template.` })
    .exactOptional();
const emailBodies = {
  html: bodyOf('HTML of the message'),
  mjml: bodyOf('MJML that the HTML is compiled from'),
  text: bodyOf('Text of the message'),
};

/** Languages of a channel's template. Each language has every part of the template without language. */
const inLanguages = <Shape extends z.ZodType>(shape: Shape) => z.record(z.string().refine(isLocale), shape);

export const emailTemplateShape = keys({
  ...emailHead,
  ...emailBodies,
  locales: inLanguages(keys({ ...emailVariantHead, ...emailBodies })).exactOptional(),
});
const smsText = z.string().meta({ description: 'The text message, a template.' });
/** The whole of it is sms.txt, and sms.<language>.txt of each language. */
export const smsTemplateShape = keys({
  text: smsText,
  locales: inLanguages(keys({ text: smsText })).exactOptional(),
});

/** Names that FCM keeps for itself. */
const DATA_KEY = /^(?!from$|message_type$|google|gcm|__proto__$)[A-Za-z0-9_.-]{1,64}$/;
const DATA_WORDS =
  'a name of letters, digits, _, . and - (at most 64; not from, message_type, google… or gcm…, which Firebase keeps)';
/** What push.yaml and push.<language>.yaml hold. */
const pushTexts = {
  title: said(text(998).exactOptional(), { description: 'First line, a template.', example: 'Order {{ order_id }}' }),
  body: said(text(8192).exactOptional(), {
    description: 'Text below the title, a template.',
    example: '{{ total }} paid',
  }),
  image: said(text(2000).exactOptional(), {
    description: 'Picture, a template: an https address. No picture is shown if it renders to nothing.',
    example: 'https://shop.example.com/{{ sku }}.png',
  }),
  link: said(text(2000).exactOptional(), {
    description: 'Where a tap leads, a template: an https address. The app gets it as the field `link` of the data.',
    example: 'https://shop.example.com/orders/{{ order_id }}',
  }),
  data: said(z.record(z.string().regex(DATA_KEY, { error: DATA_WORDS }), z.string().max(8192)).exactOptional(), {
    description: 'Fields for the app, each a template. They are not displayed.',
    example: { order: '{{ order_id }}' },
  }),
  collapse: said(text(998).exactOptional(), {
    description: 'A later notification with the same key takes the place of this one. A template; at most 64 bytes.',
    example: 'order-{{ order_id }}',
  }),
};
/** What push.<language>.yaml holds. */
export const pushVariantShape = keys(pushTexts);
/** What push.yaml holds. */
export const pushHead = {
  ...pushTexts,
  priority: said(z.enum(['normal', 'high']).exactOptional(), {
    description: '`high` wakes a sleeping phone.',
    otherwise: 'Firebase’s',
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
};
export const pushTemplateShape = keys({ ...pushHead, locales: inLanguages(pushVariantShape).exactOptional() });

/**
 * Template by channel. A folder stores it in separate files: email.yaml, email.html or email.mjml, and email.txt;
 * sms.txt; push.yaml; and a file per language, such as sms.de.txt.
 */
export const templateShape = keys({
  email: emailTemplateShape.exactOptional(),
  sms: smsTemplateShape.exactOptional(),
  push: pushTemplateShape.exactOptional(),
}).refine((body) => Object.keys(body).length > 0, { error: 'email, sms or push' });

/** Layout around the bodies of emails, with `{{{body}}}` in their place: one file per kind of body. */
export const layoutShape = keys({
  html: bodyOf('HTML around an html body'),
  mjml: bodyOf('MJML around an mjml body'),
  text: bodyOf('Text around a text body'),
}).refine((layoutBody) => Object.keys(layoutBody).length > 0, { error: 'html, mjml or text' });
/** A text that templates name: `{{> footer}}`. */
export const partialShape = keys({ text: z.string().meta({ description: 'The text, of a template.' }) });
