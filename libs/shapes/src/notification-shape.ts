import { isId } from '@carillon/kernel';
import { z } from 'zod';
import { notificationCadence } from './cadence-shape.ts';
import { ruleShape } from './rule-shape.ts';
import { security } from './security-shapes.ts';
import { duration, keys, said, slug, text } from './shape-parts.ts';
import { streamSettings } from './stream-shape.ts';
import { DEFAULTS } from './values.ts';

export const inDoubt = z.enum(['hold', 'resend', 'drop']);
export const channelShape = keys({
  template: said(slug, { description: 'Name of a template (templates/<name>/).', example: 'order-paid' }),
  accounts: said(z.array(slug).min(1, { error: 'at least one account' }).exactOptional(), {
    description: 'Accounts of the workspace to send through; if one is suspended, the next is used.',
    otherwise: 'the deployment’s',
    example: ['mailserver'],
  }),
});
export const retryShape = keys({
  attempts: said(z.int().min(1, { error: '1 to 100' }).max(100, { error: '1 to 100' }).exactOptional(), {
    description: 'Calls to a provider before a delivery fails.',
    default: DEFAULTS.notification.retry.attempts,
  }),
  first: said(duration.exactOptional(), {
    description: 'Pause after the first failed call; it doubles.',
    default: DEFAULTS.notification.retry.first,
  }),
  max: said(duration.exactOptional(), {
    description: 'Longest pause between calls.',
    default: DEFAULTS.notification.retry.max,
  }),
});

export const notificationShape = keys({
  id: said(
    z
      .string()
      .refine((id) => isId('notification', id), { error: 'an id as export writes it: ntf_ and 26 characters' })
      .exactOptional(),
    {
      description:
        'Set at creation and written by `export`. The history of notified people belongs to it, so a rename keeps the history.',
    },
  ),
  name: said(text(200).exactOptional(), {
    description: 'Name for people.',
    otherwise: 'the file’s name',
    example: 'Order paid',
  }),
  category: said(slug.exactOptional(), {
    description: 'What people opt out of together: one of the `categories` of the workspace.',
    example: 'orders',
  }),
  transactional: said(z.boolean().exactOptional(), {
    description: 'true: exempt from limits and quiet hours.',
    default: false,
  }),
  enabled: said(z.boolean().exactOptional(), {
    description: 'false: none of its rules judges anything.',
    default: DEFAULTS.notification.enabled,
  }),
  security: said(security.exactOptional(), {
    description: 'Who may send events to the rules’ own streams. Not allowed where all rules use shared streams.',
  }),
  ...streamSettings,
  channels: said(
    keys({
      email: said(channelShape.exactOptional(), { description: 'Sends email, to `to.email`.' }),
      sms: said(channelShape.exactOptional(), { description: 'Sends text messages, to `to.phone`.' }),
      push: said(channelShape.exactOptional(), { description: 'Sends push notifications, to `to.token`.' }),
    }),
    { description: 'What is sent: one entry for each channel.' },
  ),
  rules: said(z.record(slug, ruleShape), { description: 'When it is sent, and to whom; any number of rules by name.' }),
  cadence: said(notificationCadence.exactOptional(), {
    description: 'Limits, quiet hours, delay and digest of its messages.',
  }),
  retry: said(retryShape.exactOptional(), { description: 'How a delivery is tried again.' }),
  expires: said(duration.exactOptional(), {
    description: 'Nothing is sent later than this after the event.',
    default: DEFAULTS.notification.expires,
  }),
  in_doubt: said(inDoubt.exactOptional(), {
    description:
      'What happens if it is unknown whether a provider accepted a message. `hold`: an operator decides. `resend`: it may arrive twice. `drop`: it may never arrive.',
    default: DEFAULTS.notification.in_doubt,
  }),
});
