import { z } from 'zod';
import { expression, keys, said, slug } from './shape-parts.ts';

const VARIABLE_NAME = /^(?!__proto__$|constructor$|prototype$)[A-Za-z_][A-Za-z0-9_]{0,63}$/;

const address = (description: string, example: string) => said(expression().exactOptional(), { description, example });

export const eventRecipients = keys({
  from: said(z.literal('event'), { description: 'Where recipients come from: the event itself.' }),
  for_each: said(expression().exactOptional(), {
    description: 'A list in the event; each of its values is one recipient, called `item` in the other expressions.',
    example: 'event.watchers',
  }),
  to: said(
    keys({
      email: address('Email address.', 'event.customer.email'),
      phone: address('Phone number in international form, with a plus.', 'event.customer.phone'),
      token: address('Token of a device, or its Firebase Installation ID.', 'event.customer.token'),
    }),
    { description: 'Addresses, one expression for each channel. A missing field means no address.' },
  ),
  unique_id: said(expression().exactOptional(), {
    description:
      'A recipient gets this notification once per value. `event_id`: once per event. Without it each address gets it once, ever.',
    otherwise: 'the address',
    example: 'event.order_id',
  }),
  person: said(expression().exactOptional(), {
    description: 'Identifies a person who has several addresses.',
    otherwise: 'the address',
    example: 'event.customer.id',
  }),
  variables: said(
    z
      .record(
        z.string().regex(VARIABLE_NAME, { error: 'a name of letters, digits and _ that a template can use' }),
        expression(),
      )
      .exactOptional(),
    {
      description:
        'More values for the templates, each an expression; a variable wins over an event field of the same name.',
      example: { greeting: '"Hello " + event.customer.name' },
    },
  ),
  where: said(expression().exactOptional(), {
    description: 'Boolean on `variables`, `event`, `item`: a recipient for whom it is not true is dropped.',
    example: 'variables.wants_mail',
  }),
});

export const lookupRecipients = keys({
  from: said(z.literal('lookup'), { description: 'Where recipients come from: a partner is asked about user ids.' }),
  integration: said(slug, {
    description: 'Name of the partner (integrations/<name>.yaml, `kind: lookup`).',
    example: 'crm',
  }),
  user_ids: said(expression().exactOptional(), {
    description:
      'User ids to look up: a text, a number, or a list of these; sent as text. Optional only if a cohort starts the rule.',
    otherwise: 'the member of the cohort',
    example: 'event.watchers',
  }),
  unique_id: said(expression().exactOptional(), {
    description:
      'Used for a recipient without `variables.unique_id` in the answer. Sees `variables` too. Without it each address gets the notification once, ever.',
    otherwise: 'the address',
    example: 'event.order_id + ":" + variables.user_id',
  }),
  person: said(expression().exactOptional(), {
    description: 'Identifies a recipient whose item has no user id. Sees `variables` too.',
    otherwise: 'the address',
    example: 'variables.customer_id',
  }),
  where: said(expression().exactOptional(), {
    description: 'Boolean on `variables` and `event`: a recipient for whom it is not true is dropped.',
    example: 'variables.wants_mail == true',
  }),
});

/** Recipients of a rule: named by the event, or looked up at a partner. */
export const recipients = z.discriminatedUnion('from', [eventRecipients, lookupRecipients]);
