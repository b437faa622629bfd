import { z } from 'zod';
import { keys, said, url, type FormField } from '../shape-parts.ts';

/** Keys that several kinds of account share. */

export const count = (least: number, most: number) => {
  const error = `${least} to ${most}`;
  return z.int().min(least, { error }).max(most, { error });
};

export const rate = said(
  keys({
    per_second: said(z.number().min(0.01, { error: '0.01 to 10000' }).max(10_000, { error: '0.01 to 10000' }), {
      description: 'Messages a second, over all processes of the deployment together.',
      example: 10,
      form: {
        label: 'Maximum messages a second',
        note: 'Of all processes together. More messages wait in the queue of this account.',
        placeholder: '',
        isRare: true,
      },
    }),
  }).exactOptional(),
  { description: 'No more than the provider takes. What is above it waits its turn.', otherwise: 'no limit of ours' },
);

/** The address of an API that is not the provider’s own. */
export const otherUrl = said(url.exactOptional(), {
  description:
    'Another address than the provider’s own, for tests and proxies. In a workspace, private addresses, `http` and other ports need `allowed_private_addresses`.',
  form: { label: 'URL instead of the provider’s', note: 'For tests and proxies.', isRare: true },
});

/** Requests of an HTTP API at the same time. */
export const requestsAtOnce = (most: number, fallback: number, description: string) =>
  said(count(1, most).exactOptional(), {
    description,
    default: fallback,
    form: { label: 'Maximum concurrent requests', isRare: true },
  });

const SMS_SENDER = /^(?:\+[1-9]\d{6,14}|\d{3,8}|(?=.*[A-Za-z])[A-Za-z0-9 _+-]{1,11})$/;
/** A number, a short code, or a name of letters and digits (alphanumeric sender id). */
export const smsSender = z
  .string()
  .regex(SMS_SENDER, { error: 'a number such as "+4915112345678", a short code, or a name of at most 11 letters' });

/** Segments of a text that an SMS account sends unless it says otherwise. */
export const DEFAULT_MAX_SEGMENTS = 6;

/** Keys of every SMS account, which the domain reads for all kinds. */
export const smsKeys = {
  allow: said(
    z
      .array(z.string().regex(/^\+[1-9]\d{0,6}$/, { error: 'the beginning of a number, such as "+49"' }))
      .min(1, { error: 'at least one beginning' })
      .exactOptional(),
    {
      description:
        'Sends only to numbers with these prefixes. Other accounts of the notification are used for the rest.',
      otherwise: 'any number',
      example: ['+49', '+43'],
      form: {
        label: 'Allowed number prefixes, one per line',
        placeholder: '+49',
        note: 'Other numbers use the other accounts of the notification.',
        isRare: true,
      },
    },
  ),
  max_segments: said(count(1, 10).exactOptional(), {
    description: 'A text of more segments is refused; each is paid for.',
    default: DEFAULT_MAX_SEGMENTS,
    form: {
      label: 'Maximum segments',
      note: 'A longer text is not sent. The provider charges each segment.',
      isRare: true,
    },
  }),
};

/** The field of a secret in a form. */
export const secretField = (
  label: string,
  ending: string,
  more: Omit<FormField, 'label' | 'ending'> = {},
): FormField => ({
  label,
  ending,
  ...more,
});
