import { z } from 'zod';
import { keys, said, text } from './shape-parts.ts';

/** What email.yaml holds. */
export const emailHead = {
  subject: said(text(998), { description: 'Subject, a template.', example: 'Order {{ order_id }} is paid' }),
  from: said(text(998).exactOptional(), {
    description: 'Sender, `Name <address>` or an address.',
    otherwise: 'the account’s',
    example: 'Shop <shop@example.com>',
  }),
  strict: said(z.boolean().exactOptional(), {
    description: 'true: a missing variable fails the message instead of being empty.',
    default: false,
  }),
};
const emailBody = (type: string) => z.string().meta({ description: `${type} of the message, a template.` });

export const emailTemplateShape = keys({
  ...emailHead,
  html: emailBody('HTML').exactOptional(),
  text: emailBody('Text').exactOptional(),
});
/** By channel. A folder keeps the parts in files of their own: email.yaml, email.html and email.txt. */
export const templateShape = keys({ email: emailTemplateShape });
