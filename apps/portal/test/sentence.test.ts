import { describe, expect, it } from 'vitest';
import { expressionWords } from '../src/screens/notifications/condition-words.ts';
import { nameOf, sentenceOf } from '../src/screens/notifications/sentence.ts';

const rule = (when: string, more: object = {}): object => ({
  stream: 'orders',
  when,
  recipients: { from: 'event', to: { email: 'event.customer.email' }, unique_id: 'event_id' },
  ...more,
});
const body = (rules: object, more: object = {}): object => ({
  channels: { email: { template: 'order-paid' } },
  rules,
  ...more,
});

describe('the sentence of a notification', () => {
  it('says when, whom, by what, and how often', () => {
    const cadence = {
      limits: [{ max: 3, per: '1d', then: 'drop' }],
      quiet_hours: { from: '21:00', to: '08:00', then: 'hold' },
    };
    expect(sentenceOf(body({ paid: rule('event.status == "paid" && event.total > 100') }, { cadence }))).toBe(
      'When an event of orders comes and status is “paid” and total is more than 100, notify the customer by email, at most 3 a day, not between 21:00 and 08:00.',
    );
  });

  it('names the address field even if it is called like its channel', () => {
    const recipients = { from: 'event', to: { email: 'event.email' }, unique_id: 'event_id' };
    expect(sentenceOf(body({ paid: rule('true', { recipients }) }))).toBe(
      'When an event of orders comes, notify the address in email by email.',
    );
  });

  it.each([
    [
      { count: 'event.type == "failed"', within: '1h' },
      'the number of events of the same order where type is “failed” in the last hour',
    ],
    [{ count: 'true', within: '10m' }, 'the number of events of the same order in the last 10 minutes'],
    [
      { sum: 'event.amount', where: 'event.ok', within: 'calendar month' },
      'the sum of amount in events of the same order where ok is true in the calendar month',
    ],
    [
      { distinct: 'event.country', within: '1d' },
      'the number of different values of country in events of the same order in the last day',
    ],
    [undefined, 'totals.failed'],
  ])('says what a total counts: %o', (failed, words) => {
    const counting = rule('totals.failed >= 3', { totals: { failed }, cooldown: 'until_false' });
    expect(sentenceOf(body({ counting }))).toBe(
      `When an event of orders comes and ${words} is at least 3, notify the customer by email, not again until the condition has been false.`,
    );
  });

  it('says what a total counts in unless', () => {
    const totals = { logins: { count: 'event.type == "login"', within: '7d' } };
    const waits = rule('event.type == "placed"', { after: '7d', totals, unless: 'totals.logins >= 3' });
    expect(sentenceOf(body({ waits }))).toContain(
      'unless by then the number of events of the same order where type is “login” in the last 7 days is at least 3',
    );
  });

  it('says that nothing can fire without rules, or that the notification is switched off', () => {
    expect(sentenceOf(body({}))).toBe('No rule yet: nothing can fire.');
    expect(sentenceOf(body({ r: rule('true') }, { enabled: false }))).toMatch(/^Switched off: nothing fires\. When/);
    expect(sentenceOf(body({ r: rule('true', { enabled: false }) }))).toMatch(/^Switched off/);
  });

  it('describes two rules and counts the other enabled ones', () => {
    const rules = {
      a: rule('event.a'),
      b: rule('event.b'),
      c: rule('event.c'),
      d: rule('event.d', { enabled: false }),
    };
    expect(sentenceOf(body(rules))).toBe(
      'When an event of orders comes and a is true or an event of orders comes and b is true, or by 1 more rule, notify the customer by email.',
    );
  });

  it('names partners, lists, cohorts, several channels and the unique id', () => {
    const lookup = { from: 'lookup', integration: 'crm', user_ids: 'event.owner', unique_id: 'event.order_id' };
    const cohort = { integration: 'mixpanel', id: '7', on: 'entered' };
    const all = { channels: { email: { template: 'a' }, sms: { template: 'a' } } };
    expect(sentenceOf(body({ r: { cohort, recipients: lookup } }, all))).toBe(
      'When somebody enters the cohort 7 of mixpanel, notify those whom crm names by email and SMS, once per order_id.',
    );
    const each = { from: 'event', for_each: 'event.watchers', to: { email: 'item.email' } };
    expect(sentenceOf(body({ r: { when: 'true', recipients: each } }))).toBe(
      'When an event comes, notify each of watchers by email, once ever.',
    );
  });

  it('says something of whatever a draft holds', () => {
    for (const broken of [
      null,
      undefined,
      7,
      'x',
      [],
      {},
      { rules: [] },
      { rules: { a: 1, b: null } },
      { rules: { r: {} } },
    ]) {
      expect(sentenceOf(broken)).toMatch(/\.$/);
      expect(nameOf(broken, 'name')).toBe('name');
    }
  });
});

describe('a condition in words', () => {
  it.each([
    ['event.status == "paid"', 'status is “paid”'],
    ["event.a.b != 'x && y'", 'a.b is not “x && y”'],
    ['event.total >= -1.5 || event.vip', 'total is at least -1.5 or vip is true'],
    ['!event.seen && has(event.coupon)', 'seen is not true and there is coupon'],
    ['event.name.startsWith("A")', 'name begins with “A”'],
    ['event.kind in ["a", "b"]', 'kind is one of a, b'],
    ['event.a == "x"\n  && event.b', 'a is “x” and b is true'],
    ['changed(event.total) && changedTo(event.status, "paid")', 'total changed and status changed to “paid”'],
    ['changedFromTo(event.status, "open", "paid")', 'status changed from “open” to “paid”'],
  ])('says %s', (source, words) => {
    expect(expressionWords(source)).toBe(words);
  });

  it.each([
    'event.a && event.b || event.c',
    'event.a && (event.b || event.c)',
    'event.items.exists(i, i.qty > 2)',
    'event.total > event.limit',
    'event.a == "x" && size(event.b) > 2',
    '!!event.a',
  ])('shows %s as it was written', (source) => {
    expect(expressionWords(source)).toBe(source);
  });
});

describe('the sentence of a rule that waits', () => {
  const placed = { after: '1h', unless: 'event.type == "paid"' };
  it.each([
    [
      'event.type == "placed"',
      placed,
      'An hour after an order is placed, unless it is paid, notify the customer by email.',
    ],
    [
      'event.type == "placed" && event.total > 100',
      { after_last: '90m' },
      '90 minutes after the last time that an order is placed and total is more than 100, notify the customer by email.',
    ],
    [
      'changedTo(event.status, "packing")',
      { after: '2h', unless: 'event.status != "packing"' },
      '2 hours after status of an order changes to packing, unless it is no longer packing, notify the customer by email.',
    ],
    [
      'event.status == "booked"',
      { at: 'timestamp(event.starts_at) - duration("24h")', unless: 'event.status != "booked"', if_past: 'notify' },
      'A day before starts_at, once an order is booked, or at once if that is past, unless it is no longer booked, notify the customer by email.',
    ],
    [
      'event.status == "booked"',
      { at: 'event.due', cooldown: '1h' },
      'At due, once an order is booked, notify the customer by email, not again within an hour.',
    ],
    [
      'event.total > 5',
      { after: '1d', unless: 'event.type == "paid" || event.type == "cancelled"', cooldown: 'until_false' },
      'A day after an event of orders comes and total is more than 5, unless it is paid or it is cancelled, notify the customer by email, not again until the condition has been false.',
    ],
    [
      'event.type == "checkout"',
      { after: '10m', unless: 'event.a && (event.b || event.c)' },
      '10 minutes after an event of orders comes and type is “checkout”, unless by then event.a && (event.b || event.c), notify the customer by email.',
    ],
  ])('says %s with %j', (when, keys, words) => {
    expect(sentenceOf(body({ r: rule(when, keys) }))).toBe(words);
  });

  it('is joined with the sentence of a rule without a wait', () => {
    const rules = { a: rule('event.type == "placed"', placed), b: rule('event.vip') };
    expect(sentenceOf(body(rules))).toMatch(/^An hour after an order is placed, unless it is paid or when an event of/);
    expect(sentenceOf(body({ a: rules.b, b: rules.a }))).toMatch(
      /^When an event of orders comes and vip is true or an hour/,
    );
  });

  it('waits for members of a cohort', () => {
    const cohort = { integration: 'mixpanel', id: '7', on: 'entered' };
    const recipients = { from: 'lookup', integration: 'crm', unique_id: 'event_id' };
    expect(sentenceOf(body({ r: { cohort, after: '1d', recipients } }))).toBe(
      'A day after somebody enters the cohort 7 of mixpanel, notify those whom crm names by email.',
    );
  });
});
