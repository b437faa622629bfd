import type { NotificationBody, TemplateBody } from '@carillon/domain/configuration';
import {
  configurationOf,
  integration,
  layout,
  notification,
  ORDER_PAID,
  ORDERS,
  partial,
  PAID_MAIL,
  stream,
  template,
  type Wish,
} from '@carillon/testing/given';
import { describe, expect, it } from 'vitest';
import { unpublishedOf } from '../../src/index.ts';

const paid = ORDER_PAID.rules['paid'];
if (!paid) throw new Error('there is a rule');
const MAIL: TemplateBody = { email: { ...PAID_MAIL.email, html: '<p>{{> foot}}</p>', layout: 'shop' } };
const crm = (url: string): Wish => integration('crm', { kind: 'lookup', url, match: 'id' } as never);
const asking: NotificationBody = {
  ...ORDER_PAID,
  channels: { email: { template: 'other' } },
  rules: { watched: { ...paid, recipients: { from: 'lookup', integration: 'crm', user_ids: 'event.watchers' } } },
};
const BASE: readonly Wish[] = [
  stream('orders', ORDERS),
  crm('https://crm.example.com/people'),
  template('order-paid', MAIL),
  template('other', PAID_MAIL),
  layout('shop', { html: '<main>{{{body}}}</main>' }),
  partial('foot', { text: 'The shop' }),
  partial('unused', { text: 'Nobody reads it' }),
  notification('order-paid', ORDER_PAID),
  notification('asking', asking),
];
const after = configurationOf(BASE);
const namesOf = (names: readonly string[], ...wishes: readonly Wish[]) =>
  unpublishedOf({ after, published: configurationOf(BASE, wishes) }, names, 'shop').map(
    ({ kind, name }) => `${kind} ${name}`,
  );
const withIds = (body: NotificationBody, id: string): NotificationBody => ({
  ...body,
  id: `ntf_${id}`,
  rules: Object.fromEntries(Object.entries(body.rules).map(([name, rule]) => [name, { ...rule, id: `rul_${id}` }])),
});

describe('the unpublished part of an edit that a person wants to send by', () => {
  it('is empty if the same bodies are published, also under other ids', () => {
    expect(namesOf(['order-paid', 'asking'], ...structuredClone(BASE))).toEqual([]);
    expect(namesOf(['order-paid'], notification('order-paid', withIds(ORDER_PAID, 'new')))).toEqual([]);
  });

  it.each<[string, Wish]>([
    [
      'notification order-paid',
      notification('order-paid', { ...ORDER_PAID, rules: { paid: { ...paid, when: 'true' } } }),
    ],
    ['notification order-paid', notification('order-paid', null)],
    ['template order-paid', template('order-paid', { email: { ...PAID_MAIL.email, subject: 'Paid', layout: 'shop' } })],
    ['layout shop', layout('shop', { html: '<b>{{{body}}}</b>' })],
    ['partial foot', partial('foot', { text: 'The other shop' })],
  ])('is the %s if its body differs from the published one', (name, wish) => {
    expect(namesOf(['order-paid'], wish)).toEqual([name]);
    expect(namesOf(['asking'], wish)).toEqual([]);
  });

  it('is the integration that a rule asks if that integration differs', () => {
    const moved = crm('https://elsewhere.example.com/people');
    expect(namesOf(['asking'], moved)).toEqual(['integration crm']);
    expect(namesOf(['order-paid'], moved)).toEqual([]);
  });

  it('is a notification that the edit removes and that is still published', () => {
    const removed = configurationOf(BASE, [notification('order-paid', null)]);
    const refs = unpublishedOf({ after: removed, published: after }, ['order-paid'], 'shop');
    expect(refs.map(({ name }) => name)).toEqual(['order-paid']);
  });

  it('leaves out resources that the notifications do not use', () => {
    expect(namesOf(['order-paid', 'asking'], partial('unused', { text: 'Still nobody' }))).toEqual([]);
  });
});
