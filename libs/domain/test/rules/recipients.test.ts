import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { givenEvent, givenRule } from '@carillon/testing/given';
import {
  evaluateRule,
  MAX_RECIPIENT_CHARACTERS,
  MAX_RECIPIENTS,
  type CompiledRule,
  type RuleOutcome,
} from '../../src/rules/index.ts';
import type { Json } from '@carillon/kernel';

const evaluate = (rule: CompiledRule, body: { readonly [name: string]: Json } = {}): RuleOutcome =>
  evaluateRule(rule, givenEvent(body), () => 'trg_1');
function fired(rule: CompiledRule, body: { readonly [name: string]: Json } = {}) {
  const outcome = evaluate(rule, body);
  if (outcome.kind !== 'fired') throw new Error(`it did not fire: ${JSON.stringify(outcome)}`);
  return outcome;
}
const uniqueIds = (rule: CompiledRule, body: { readonly [name: string]: Json }) =>
  fired(rule, body).recipients.map(({ uniqueId }) => uniqueId);
const drops = (rule: CompiledRule, body: { readonly [name: string]: Json }) =>
  fired(rule, body).dropped.map(({ index, reason }) => [index, reason]);
const ADA = { email: 'ada@example.com' };

describe('the condition of a rule', () => {
  it('fires the rule only if it is true; an error is reported and does not fire', () => {
    const rule = givenRule({}, { when: 'event.total > 100' });
    expect(evaluate(rule, { ...ADA, total: 101 }).kind).toBe('fired');
    expect(evaluate(rule, { ...ADA, total: 100 })).toEqual({ kind: 'not_fired' });
    expect(evaluate(rule, ADA)).toMatchObject({ kind: 'failed', error: expect.stringContaining('total') as string });
    expect(evaluate(rule, { ...ADA, total: 'much' }).kind).toBe('failed');
    expect(evaluate(givenRule({}, { when: 'event.total' }), { total: 1 })).toMatchObject({ kind: 'failed' });
  });

  it('is not evaluated, and cannot fail, while the rule is disabled', () => {
    expect(evaluate(givenRule({}, { enabled: false, when: 'event.total > 1' }))).toEqual({ kind: 'disabled' });
  });
});

describe('the unique_id of a recipient', () => {
  it('is the text of the expression word for word, and a number’s decimal text', () => {
    const rule = givenRule({ unique_id: 'event.order' });
    expect(uniqueIds(rule, { ...ADA, order: ' A-1 ' })).toEqual([' A-1 ']);
    expect(uniqueIds(rule, { ...ADA, order: 17 })).toEqual(['17']);
    expect(uniqueIds(rule, { ...ADA, order: 1.5 })).toEqual(['1.5']);
    expect(uniqueIds(rule, { ...ADA, order: 9007199254740993n })).toEqual(['9007199254740993']);
  });

  for (const order of [null, '', true, ['a'], { a: 1 }] as const) {
    it(`is an error that drops the recipient if the expression gives ${JSON.stringify(order)}`, () => {
      expect(drops(givenRule({ unique_id: 'event.order' }), { ...ADA, order })).toEqual([[0, 'rule_error']]);
    });
  }

  it('is an error that drops the recipient if the expression fails, without falling back to the address', () => {
    const outcome = fired(givenRule({ unique_id: 'event.order' }), ADA);
    expect(outcome).toMatchObject({ recipients: [], dropped: [{ reason: 'rule_error' }] });
  });

  it('is the first address in the order email, phone, token if the rule has no expression', () => {
    const rule = givenRule({ to: { token: 'event.token', phone: 'event.phone', email: 'event.email' } });
    expect(uniqueIds(rule, { token: 'tok', phone: '+49', email: 'a@b.c' })).toEqual(['a@b.c']);
    expect(uniqueIds(rule, { token: 'tok', phone: '+49', email: null })).toEqual(['+49']);
    expect(uniqueIds(rule, { token: 'tok' })).toEqual(['tok']);
    expect(drops(rule, {})).toEqual([[0, 'no_unique_id']]);
  });

  it('is the event or trigger id with the address for event_id or trigger_id, so that each recipient of each event counts', () => {
    const all = { for_each: 'event.to', to: { email: 'item' } };
    const to = ['a@b.c', 'd@e.f'];
    expect(uniqueIds(givenRule({ ...all, unique_id: 'event_id' }), { to })).toEqual(['evt_1:a@b.c', 'evt_1:d@e.f']);
    expect(uniqueIds(givenRule({ ...all, unique_id: ' trigger_id ' }), { to })).toEqual(['trg_1:a@b.c', 'trg_1:d@e.f']);
  });

  it('may use event_id as any value within an expression', () => {
    expect(uniqueIds(givenRule({ unique_id: 'event_id + "!"' }), ADA)).toEqual(['evt_1!']);
  });
});

describe('for_each (a recipient per item of a list)', () => {
  const rule = givenRule({ for_each: 'event.watchers', to: { email: 'item.email' }, where: 'item.on' });
  it('makes a recipient of each item, even if other items are faulty', () => {
    const watchers = [{ email: 'a@b.c', on: true }, { email: 'd@e.f', on: false }, 7, { on: true }];
    const outcome = fired(rule, { watchers });
    expect(outcome.recipients.map(({ to }) => to.email)).toEqual(['a@b.c']);
    expect(drops(rule, { watchers })).toEqual([
      [1, 'where_false'],
      [2, 'rule_error'],
      [3, 'no_unique_id'],
    ]);
  });

  it('notifies nobody for an empty list, and fails without a list', () => {
    expect(fired(rule, { watchers: [] })).toEqual({ kind: 'fired', recipients: [], dropped: [] });
    expect(evaluate(rule, { watchers: 'all' })).toEqual({
      kind: 'failed',
      reason: 'rule_error',
      error: 'for_each: expected a list',
    });
    expect(evaluate(rule, {}).kind).toBe('failed');
  });

  it('drops a recipient whose data exceeds the size limit of a log record, and notifies the others', () => {
    const grown = givenRule({
      for_each: 'event.to',
      to: { email: 'item' },
      variables: { text: 'event.text', who: 'item' },
    });
    const text = 'x'.repeat(MAX_RECIPIENT_CHARACTERS - 1000);
    const outcome = fired(grown, { to: ['ada@example.com', `${'b'.repeat(300)}@example.com`], text });
    expect(outcome.recipients.map(({ to }) => to.email)).toEqual(['ada@example.com']);
    expect(outcome.dropped).toMatchObject([{ index: 1, reason: 'too_large' }]);
    const lists = givenRule({ variables: { a: 'event.list', b: 'event.list' } });
    const list = Array.from({ length: MAX_RECIPIENT_CHARACTERS / 40 }, (_, index) => index);
    expect(drops(lists, { ...ADA, list })).toEqual([[0, 'too_large']]);
    expect(drops(lists, { ...ADA, list: list.slice(0, 100) })).toEqual([]);
  });

  it(`notifies at most ${MAX_RECIPIENTS}, and counts those left out`, () => {
    const many = givenRule({ for_each: 'event.to', to: { email: 'item' } });
    const to = Array.from({ length: MAX_RECIPIENTS + 3 }, (_, index) => `p${index}@example.com`);
    const outcome = fired(many, { to });
    expect(outcome.recipients).toHaveLength(MAX_RECIPIENTS);
    expect(outcome.dropped).toMatchObject([{ index: MAX_RECIPIENTS, reason: 'too_many_recipients' }]);
    expect(outcome.dropped[0]?.detail).toContain('3 beyond');
    expect(fired(many, { to: to.slice(3) }).dropped).toEqual([]);
  });
});

describe('the `where` of a rule', () => {
  const rule = givenRule({ variables: { plan: 'event.plan' }, where: 'variables.plan == "gold"' });
  it('can use the variables, and drops recipients for whom it is not true or fails, with the reason', () => {
    expect(fired(rule, { ...ADA, plan: 'gold' }).recipients).toHaveLength(1);
    expect(drops(rule, { ...ADA, plan: 'tin' })).toEqual([[0, 'where_false']]);
    expect(drops(givenRule({ where: 'event.vip' }), ADA)).toEqual([[0, 'rule_error']]);
    expect(drops(givenRule({ where: 'event.vip' }), { ...ADA, vip: 'yes' })).toEqual([[0, 'rule_error']]);
  });
});

describe('the person id of a recipient', () => {
  it('is the value that the rule sets, also a number, or else the email in lower case, or phone, token or unique_id', () => {
    const personOf = (rule: CompiledRule, body: { readonly [name: string]: Json }) =>
      fired(rule, body).recipients[0]?.person;
    const named = givenRule({ person: 'event.user', unique_id: 'event_id' });
    expect(personOf(named, { user: 'u1', ...ADA })).toBe('u1');
    expect(personOf(named, { user: 17, ...ADA })).toBe('17');
    expect(personOf(named, { user: null, email: 'Ada@Example.com' })).toBe('ada@example.com');
    expect(personOf(named, { email: 'Ada@Example.com' })).toBe('ada@example.com');
    const phone = givenRule({ to: { phone: 'event.phone' } });
    expect(personOf(phone, { phone: '+49 30 1' })).toBe('+49 30 1');
    expect(personOf(named, {})).toBe('evt_1:');
  });
});

describe('addresses and variables of a recipient', () => {
  it('are null if a field is missing; an address is normalized, and a value that is no text is null', () => {
    const rule = givenRule({ unique_id: 'event_id', variables: { name: 'event.customer.name' } });
    expect(fired(rule, { email: '  Ada@ｅxample.com. ' }).recipients[0]).toMatchObject({
      to: { email: 'ada@example.com', phone: null, token: null },
      variables: { name: null },
    });
    for (const email of ['', '   ', 7, null, ['a@b.c']]) {
      expect(fired(rule, { email }).recipients[0]?.to.email).toBeNull();
    }
  });

  it('give one person and one unique_id for one address, however it is spelled', () => {
    const rule = givenRule({});
    for (const email of ['a@BÜCHER.example', 'A@xn--bcher-kva.example.', 'a@bu\u0308cher。example']) {
      const told = { person: 'a@xn--bcher-kva.example', uniqueId: 'a@xn--bcher-kva.example' };
      expect(fired(rule, { email }).recipients[0], email).toMatchObject(told);
    }
  });

  it('keep text that is no valid address for display, without control characters', () => {
    const rule = givenRule({ unique_id: 'event_id' });
    expect(fired(rule, { email: 'ada at home' }).recipients[0]?.to.email).toBe('ada at home');
    expect(fired(rule, { email: 'ada@example.com\r\nBcc: x' }).recipients[0]?.to.email).toBe(
      'ada@example.com\ufffd\ufffdBcc: x',
    );
  });
});

describe('a random rule on a random event', () => {
  it('gives the same result each time, and notifies or drops every item with a reason', () => {
    const rule = givenRule({
      for_each: 'event.to',
      to: { email: 'item' },
      unique_id: 'item',
      where: 'item != "no@b.c"',
    });
    const anyItem = fc.constantFrom<Json>('a@b.c', 'd@e.f', 'no@b.c', '', null, 7, { a: 1 });
    fc.assert(
      fc.property(fc.array(anyItem, { maxLength: 20 }), (to) => {
        const outcome = fired(rule, { to });
        expect(fired(rule, { to })).toEqual(outcome);
        expect(outcome.recipients.length + outcome.dropped.length).toBe(to.length);
      }),
    );
  });
});
