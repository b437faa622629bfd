import { describe, expect, it } from 'vitest';
import type { NotificationBody, TemplateBody } from '@carillon/domain/configuration';
import { runToCompletion } from '@carillon/kernel';
import {
  configurationOf,
  countingRules,
  givenEvent,
  givenIds,
  givenRuleBook,
  integration,
  layout,
  notification,
  ORDER_PAID,
  ORDERS,
  partial,
  PAID_MAIL,
  stream,
  template,
  workspaceOf,
  type Wish,
} from '@carillon/testing/given';
import {
  asksPartner,
  compareEventCoroutine,
  editOf,
  narrowRuleBook,
  statefulRules,
  streamsOf,
} from '../../src/index.ts';
import { slotsOf, textOf } from './comparison-fixture.ts';

const rule = ORDER_PAID.rules['paid'];
if (!rule) throw new Error('there is a rule');
const MAIL: TemplateBody = { email: { ...PAID_MAIL.email, html: '<p>{{> foot}}</p>', layout: 'shop' } };
const BASE: readonly Wish[] = [
  stream('orders', ORDERS),
  template('order-paid', MAIL),
  template('digest', PAID_MAIL),
  layout('shop', { html: '<main>{{{body}}}</main>' }),
  partial('foot', { text: 'The shop' }),
  notification('order-paid', ORDER_PAID),
  notification('other', ORDER_PAID, 'elsewhere'),
  notification('welcome', { ...ORDER_PAID, channels: { email: { template: 'digest' } } }),
];
const before = configurationOf(BASE);
const editedBy = (...wishes: readonly Wish[]) => editOf({ before, after: configurationOf(BASE, wishes) }, 'shop');
const paidWith = (body: Partial<NotificationBody>): Wish => notification('order-paid', { ...ORDER_PAID, ...body });

describe('an edit of the configuration, before it is compared', () => {
  it('affects no notification if every body is written again unchanged', () => {
    expect(editedBy(...structuredClone(BASE))).toEqual({ notifications: [], notCompared: [] });
  });

  it.each<[string, Wish]>([
    ['condition', paidWith({ rules: { paid: { ...rule, when: 'true' } } })],
    ['stream of a rule', paidWith({ rules: { paid: { ...rule, stream: 'other' } } })],
    ['new rule', paidWith({ rules: { paid: rule, more: rule } })],
    ['removed rule', paidWith({ rules: {} })],
    ['disabled rule', paidWith({ rules: { paid: { ...rule, enabled: false } } })],
    ['removed notification', notification('order-paid', null)],
    ['template', template('order-paid', { email: { ...PAID_MAIL.email, text: 'Paid' } })],
    ['removed template', template('order-paid', null)],
    ['layout', layout('shop', { html: '<b>{{{body}}}</b>' })],
    ['partial', partial('foot', { text: 'The other shop' })],
  ])('affects the notification if it is a %s', (_name, wish) => {
    expect(editedBy(wish).notifications).toEqual(['order-paid']);
  });

  it('affects a new notification, and one whose digest template changed', () => {
    const digest = { digest: { window: { fixed: '1h' }, template: 'digest' } };
    const digested = configurationOf([...BASE, paidWith({ cadence: digest })]);
    const after = configurationOf(
      [...BASE, paidWith({ cadence: digest })],
      [template('digest', { email: { ...PAID_MAIL.email, text: 'Many' } })],
    );
    expect(editOf({ before: digested, after }, 'shop').notifications).toEqual(['order-paid', 'welcome']);
    expect(editedBy(notification('new', ORDER_PAID)).notifications).toEqual(['new']);
  });

  it('lists the edited resources that a comparison does not take into account', () => {
    const crm = integration('crm', {
      kind: 'lookup',
      url: 'https://crm.example.com/people',
      match: 'id',
    } as never);
    expect(editedBy(crm, workspaceOf({ time_zone: 'Europe/Berlin' })).notCompared).toEqual([
      { kind: 'integration', name: 'crm' },
      { kind: 'workspace', name: '' },
    ]);
  });
});

describe('the messages that differ after an edit', () => {
  const order = (id: number, status: string) => {
    const customer = { name: 'Ada', email: 'ada@example.com' };
    return givenEvent({ order_id: `A-${id}`, status, customer }, `evt_${id}`);
  };
  const events = [order(1, 'paid'), order(2, 'open'), { ...order(3, 'paid'), stream: 'shop/returns' }];
  const rowsOf = (wishes: readonly Wish[]): readonly string[] => {
    const base = [...BASE, stream('returns', ORDERS)];
    const configurations = { before: configurationOf(base), after: configurationOf(base, wishes) };
    const { notifications } = editOf(configurations, 'shop');
    const book = narrowRuleBook(givenRuleBook(), ({ notification: { ref } }) => notifications.includes(ref.name));
    const context = { configurations, book, ids: givenIds, findAnswer: () => undefined };
    const lines = events.flatMap((event) => runToCompletion(compareEventCoroutine(event, context)).lines);
    const different = slotsOf(lines).filter(({ difference }) => difference !== 'unchanged');
    return different.map(textOf).toSorted();
  };
  const changed = ['changed order-paid.paid evt_1'];
  const removed = ['removed order-paid.paid evt_1'];

  it.each<[string, Wish, readonly string[]]>([
    ['condition', paidWith({ rules: { paid: { ...rule, when: 'true' } } }), ['added order-paid.paid evt_2']],
    [
      'stream of a rule',
      paidWith({ rules: { paid: { ...rule, stream: 'returns' } } }),
      ['added order-paid.paid evt_3', ...removed],
    ],
    [
      'new rule',
      paidWith({ rules: { paid: rule, more: { ...rule, when: 'event.status == "open"' } } }),
      ['added order-paid.more evt_2'],
    ],
    ['removed rule', paidWith({ rules: {} }), removed],
    ['disabled rule', paidWith({ rules: { paid: { ...rule, enabled: false } } }), removed],
    ['new notification', notification('new', ORDER_PAID), ['added new.paid evt_1']],
    ['removed notification', notification('order-paid', null), removed],
    ['disabled notification', paidWith({ enabled: false }), removed],
    ['template', template('order-paid', { email: { ...MAIL.email, text: 'Paid' } } as TemplateBody), changed],
    ['layout', layout('shop', { html: '<b>{{{body}}}</b>' }), changed],
    ['partial', partial('foot', { text: 'The other shop' }), changed],
  ])('are those of the %s', (_name, wish, rows) => {
    expect(rowsOf([wish])).toEqual(rows);
  });
});

describe('the rules that a comparison runs', () => {
  const book = givenRuleBook();
  const moved = configurationOf(BASE, [paidWith({ rules: { paid: { ...rule, stream: 'other' } } })]);
  const sides = { before, after: moved };
  const own = narrowRuleBook(
    book,
    ({ notification: { ref } }) => ref.workspace === 'shop' && ref.name === 'order-paid',
  );

  it('are those of the affected notifications, in the same order each time', () => {
    const rules = own.rulesOf(before, 'shop/orders');
    expect(rules.map(({ placed }) => placed.notification.ref.name)).toEqual(['order-paid']);
    expect(own.rulesOf(before, 'shop/orders')).toBe(rules);
    expect(book.rulesOf(before, 'shop/orders')).toHaveLength(2);
  });

  it('read the streams of both the published and the edited configuration', () => {
    expect([...streamsOf(sides, own)].toSorted()).toEqual(['shop/orders', 'shop/other']);
  });

  it('are listed separately if they keep state', () => {
    expect([...statefulRules(sides, own)]).toEqual([]);
    expect([...statefulRules(sides, countingRules(own))]).toEqual(['shop/order-paid.paid']);
  });

  it('need recorded answers only if one of them asks a partner', () => {
    const lookup = { ...rule, recipients: { from: 'lookup' as const, integration: 'crm', user_ids: 'event.ids' } };
    expect(asksPartner(sides, own)).toBe(false);
    const asking = configurationOf(BASE, [paidWith({ rules: { paid: lookup } })]);
    expect(asksPartner({ before, after: asking }, own)).toBe(true);
  });
});
