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
      'When an event of orders comes and status is “paid” and total is more than 100, tell customer.email by email, at most 3 a day, not between 21:00 and 08:00.',
    );
  });

  it('names the field of an address that is called as its channel', () => {
    const recipients = { from: 'event', to: { email: 'event.email' }, unique_id: 'event_id' };
    expect(sentenceOf(body({ paid: rule('true', { recipients }) }))).toBe(
      'When an event of orders comes, tell the address in email by email.',
    );
  });

  it('says that nothing can fire, and that it is switched off', () => {
    expect(sentenceOf(body({}))).toBe('No rule yet: nothing can fire.');
    expect(sentenceOf(body({ r: rule('true') }, { enabled: false }))).toMatch(/^Switched off: nothing fires\. When/);
    expect(sentenceOf(body({ r: rule('true', { enabled: false }) }))).toMatch(/^Switched off/);
  });

  it('tells of two rules and counts the others, those alone that are on', () => {
    const rules = {
      a: rule('event.a'),
      b: rule('event.b'),
      c: rule('event.c'),
      d: rule('event.d', { enabled: false }),
    };
    expect(sentenceOf(body(rules))).toBe(
      'When an event of orders comes and a is true or an event of orders comes and b is true, or by 1 more rule, tell customer.email by email.',
    );
  });

  it('names partners, lists, cohorts, several channels and what a message is told once for', () => {
    const lookup = { from: 'lookup', integration: 'crm', user_ids: 'event.owner', unique_id: 'event.order_id' };
    const cohort = { integration: 'mixpanel', id: '7', on: 'entered' };
    const all = { channels: { email: { template: 'a' }, sms: { template: 'a' } } };
    expect(sentenceOf(body({ r: { cohort, recipients: lookup } }, all))).toBe(
      'When somebody enters the cohort 7 of mixpanel, tell those whom crm names by email and SMS, once per order_id.',
    );
    const each = { from: 'event', for_each: 'event.watchers', to: { email: 'item.email' } };
    expect(sentenceOf(body({ r: { when: 'true', recipients: each } }))).toBe(
      'When an event comes, tell each of watchers by email, once ever.',
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
