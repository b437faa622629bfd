import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Configuration, NotificationBody, RuleBody } from '@carillon/domain/configuration';
import type { Json } from '@carillon/kernel';
import {
  configurationOf,
  givenEvent,
  givenIds,
  givenRuleBook,
  HOUR,
  MORNING,
  ORDER_PAID,
  orderShop,
  PAID_MAIL,
  template,
} from '@carillon/testing/given';
import { evaluateEvent, templateContext, type EvaluatedRule } from '../../src/index.ts';

const book = givenRuleBook();
const evaluate = (configuration: Configuration, body: { readonly [name: string]: Json }, id = 'evt_1', offset = 5) =>
  evaluateEvent(givenEvent(body, id, offset), configuration, book, givenIds.derive);
const intentsOf = (evaluatedRules: readonly EvaluatedRule[]) => evaluatedRules.flatMap(({ intents }) => intents);

const rule = ORDER_PAID.rules['paid'];
if (!rule) throw new Error('there is a rule');
const shop = (change: Partial<RuleBody> = {}, more: Partial<NotificationBody> = {}): Configuration =>
  configurationOf(orderShop({ ...ORDER_PAID, ...more, rules: { paid: { ...rule, ...change } } }));
const PAID = { status: 'paid', order_id: 'A-1', customer: { email: 'ada@example.com', name: 'Ada' } };

describe('the message (intent) that a fired rule makes', () => {
  it('has its unique_id, its origin, the values for the template, and its expiry', () => {
    const [intent, ...others] = intentsOf(evaluate(shop({}, { expires: '2h' }), PAID));
    expect(others).toEqual([]);
    expect(intent).toMatchObject({
      slot: { workspace: 'shop', notificationId: 'shop/order-paid', channel: 'email', uniqueId: 'A-1' },
      rule: 'order-paid.paid',
      ruleVersion: 1,
      configNumber: 0,
      eventId: 'evt_1',
      eventPosition: 'carillon.events/0@5',
      to: 'ada@example.com',
      variables: { order_id: 'A-1', customer: { name: 'Ada' } },
      templateVersion: 1,
      causedAt: MORNING,
      notAfter: MORNING + 2 * HOUR,
    });
    expect(intent?.variables).not.toHaveProperty('status');
  });

  it('has the same id if the same event is read at another position, and another id for another event, unique_id or address', () => {
    const idOf = (body: { readonly [name: string]: Json }, id?: string, offset?: number) =>
      intentsOf(evaluate(shop(), body, id, offset))[0]?.id;
    const own = idOf(PAID);
    expect(own).toMatch(/^int_/);
    expect(idOf(PAID, 'evt_1', 99)).toBe(own);
    const customer = { ...PAID.customer, email: 'bob@example.com' };
    const others = [idOf(PAID, 'evt_2'), idOf({ ...PAID, order_id: 'A-2' }), idOf({ ...PAID, customer })];
    expect(new Set([own, ...others]).size).toBe(4);
  });

  it('keeps its id when the rule gets a new version, so that an event counts once', () => {
    const before = intentsOf(evaluate(shop(), PAID))[0];
    const after = intentsOf(evaluate(shop({ when: 'event.status in ["paid", "settled"]' }), PAID))[0];
    expect(after?.id).toBe(before?.id);
  });

  it('is made also for a recipient without an address on the channel, so that the delivery shows it', () => {
    expect(intentsOf(evaluate(shop(), { ...PAID, customer: {} }))).toMatchObject([
      { to: null, slot: { uniqueId: 'A-1' } },
    ]);
  });
});

describe('an event on a stream with several rules', () => {
  it('is evaluated by every rule of its stream in the order of their names, and by no other rule', () => {
    const both = shop();
    const other = configurationOf(
      orderShop({
        ...ORDER_PAID,
        rules: { b: rule, a: { ...rule, when: 'false' }, own: { ...rule, stream: 'other' } },
      }),
    );
    expect(evaluate(both, PAID).map(({ placed }) => placed.name)).toEqual(['paid']);
    expect(
      evaluate(other, PAID)
        .map(({ placed, outcome }) => `${placed.name} ${outcome.kind}`)
        .toSorted(),
    ).toEqual(['a not_fired', 'b fired']);
  });

  it('is evaluated by the other rules if one rule cannot be compiled', () => {
    const broken = configurationOf(
      orderShop({ ...ORDER_PAID, rules: { bad: { ...rule, when: 'event.(' }, paid: rule } }),
    );
    const evaluatedRules = evaluate(broken, PAID);
    expect(evaluatedRules.map(({ placed, outcome }) => [placed.name, outcome.kind])).toEqual([
      ['bad', 'failed'],
      ['paid', 'fired'],
    ]);
  });

  it('gives the same messages when it is evaluated again, whatever it contains', () => {
    const configuration = configurationOf(
      orderShop({
        ...ORDER_PAID,
        rules: {
          paid: { ...rule, when: 'true', recipients: { from: 'event', for_each: 'event.to', to: { email: 'item' } } },
        },
      }),
      [template('order-paid', { email: { ...PAID_MAIL.email, text: '{{#each this}}{{@key}}{{/each}}' } })],
    );
    // The intake refuses integers beyond 64 bits and these two names, so neither gets into the log.
    const anything = fc
      .jsonValue()
      .filter((value) => !/\d{16}|"(?:__proto__|constructor)":/.test(JSON.stringify(value)));
    fc.assert(
      fc.property(fc.array(fc.constantFrom<Json>('a@b.c', 'd@e.f', null, 3)), anything, (to, more) => {
        const body = { to, more: more as Json };
        expect(evaluate(configuration, body)).toEqual(evaluate(configuration, body));
        const slots = intentsOf(evaluate(configuration, body)).map(
          ({ id, slot, to: address }) => `${id} ${slot.uniqueId} ${address}`,
        );
        expect(new Set(slots.map((text) => text.split(' ')[0])).size).toBe(new Set(slots).size);
      }),
      { numRuns: 50 },
    );
  });
});

describe('the values that a template gets', () => {
  const names = (...list: string[]) => ({ names: list, all: false });
  it('are those whose names the template uses; a variable comes before an event field of the same name', () => {
    const context = templateContext(
      { name: 'field', total: 7, secret: 's' },
      { name: 'variable' },
      names('name', 'total', 'gone'),
    );
    expect(context).toEqual({ name: 'variable', total: 7 });
  });
  it('have null for a variable that is null, not the event field of that name', () => {
    expect(templateContext({ name: 'field' }, { name: null }, names('name'))).toEqual({ name: null });
  });
  it('always have the recipient’s time zone and locale', () => {
    expect(templateContext({ locale: 'de' }, { time_zone: 'Europe/Berlin' }, names())).toEqual({
      locale: 'de',
      time_zone: 'Europe/Berlin',
    });
  });
  it('are all values if the template uses the whole context', () => {
    expect(templateContext({ a: 1, b: 2 }, { b: 3 }, { names: [], all: true })).toEqual({ a: 1, b: 3 });
  });

  it('have the deadline of a rule that waited, unless a field or variable has that name', () => {
    const deadline = Date.UTC(2026, 0, 31, 9);
    expect(templateContext({}, {}, names('deadline'), { deadline })).toEqual({ deadline: '2026-01-31T09:00:00.000Z' });
    expect(templateContext({ deadline: 'soon' }, {}, names('deadline'), { deadline })).toEqual({ deadline: 'soon' });
    expect(templateContext({}, {}, names('name'), { deadline })).toEqual({});
  });
  it('are only those that the event has, even for names such as constructor', () => {
    const hostile = JSON.parse('{"__proto__": {"admin": true}}') as { readonly [name: string]: Json };
    const context = templateContext(hostile, {}, names('constructor', 'toString', '__proto__', 'admin'));
    expect(Object.getPrototypeOf(context)).toBe(Object.prototype);
    expect(Object.keys(context)).toEqual(['__proto__']);
    expect(context['admin']).toBeUndefined();
  });
});
