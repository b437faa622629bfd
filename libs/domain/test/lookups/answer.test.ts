import { attribute, type Attribution } from '../../src/lookups/index.ts';
import type { Json } from '@carillon/kernel';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

const MATCH: Attribution = { kind: 'match', path: ['variables', 'user_id'] };
const IN_ORDER: Attribution = { kind: 'in_order' };
const NONE: Attribution = { kind: 'none' };

const person = (id: string | number, to: { readonly [key: string]: Json } = { email: `${id}@example.com` }): Json => ({
  to,
  variables: { user_id: id },
});
/** Of each trigger whom it found and what was wrong, in short. */
const told = (items: readonly Json[], asked: readonly (readonly string[])[], how: Attribution): unknown => {
  const answer = attribute(items, asked, how);
  if (!answer.ok) return answer.error;
  return answer.value.map(({ items: found, problems }) => [
    found.map(({ userId, to }) => `${userId ?? '?'}=${to.email ?? to.phone ?? to.token ?? 'nowhere'}`).join(' '),
    problems.map(({ kind, userId, index }) => `${kind}:${userId ?? index ?? '?'}`).join(' '),
  ]);
};

describe('a partner’s answer whose items carry the user id', () => {
  it('is assigned by id in any order, as numbers or text', () => {
    expect(told([person('b'), person(7), person('a')], [['a', 'b', '7']], MATCH)).toEqual([
      ['b=b@example.com 7=7@example.com a=a@example.com', ''],
    ]);
  });

  it('reports missing, extra or duplicate ids, without affecting others', () => {
    const items = [person('a'), person('a', { email: 'other@example.com' }), person('z')];
    expect(told(items, [['a', 'b']], MATCH)).toEqual([['a=a@example.com', 'duplicate:a extra:z missing:b']]);
  });

  it('gives each item to every trigger of a shared call that asked for the user', () => {
    expect(told([person('a'), person('b')], [['a'], ['b', 'a'], ['c']], MATCH)).toEqual([
      ['a=a@example.com', ''],
      ['a=a@example.com b=b@example.com', ''],
      ['', 'missing:c'],
    ]);
  });

  it('with an item without an id: a shared call is repeated one by one, a single call skips the item', () => {
    const items = [person('a'), { to: { email: 'x@example.com' } }];
    expect(told(items, [['a'], ['b']], MATCH)).toBe('item 1 has no user id');
    expect(told(items, [['a']], MATCH)).toEqual([['a=a@example.com', 'invalid:1']]);
  });
});

describe('a partner’s answer whose items are in the order of the requested ids', () => {
  it('is assigned by position, with null for an unknown id', () => {
    expect(told([person('x'), null], [['a', 'b']], IN_ORDER)).toEqual([['a=x@example.com', 'missing:b']]);
  });

  it('with a wrong number of items has no ids, and is never shared', () => {
    expect(told([person('x')], [['a', 'b']], IN_ORDER)).toEqual([['?=x@example.com', 'not_in_order:?']]);
    expect(told([person('x')], [['a'], ['b']], IN_ORDER)).toBe('2 ids were asked in order and 1 items were returned');
  });
});

describe('a partner’s answer whose items have no ids', () => {
  it('gives one recipient per item; for a single requested id, the item is that person', () => {
    expect(told([person('x'), person('y')], [['a']], NONE)).toEqual([['a=x@example.com a=y@example.com', '']]);
    expect(told([person('x')], [['a', 'b']], NONE)).toEqual([['?=x@example.com', 'missing:?']]);
    expect(told([], [['a']], NONE)).toEqual([['', 'missing:a']]);
  });

  it('is never shared between triggers', () => {
    expect(told([person('x'), person('y')], [['a'], ['b']], NONE)).toContain('cannot be assigned');
  });
});

describe('an item of the wrong shape in a partner’s answer', () => {
  it.each<[string, Json]>([
    ['no object', 'ada@example.com'],
    ['null', null],
    ['no to', { variables: {} }],
    ['to is a list', { to: [] }],
    ['an address that is a number', { to: { email: 5 } }],
    ['an address that is a list', { to: { phone: ['+4915112345678'] } }],
    ['variables is a list', { to: {}, variables: [] }],
    ['unique_id is an object', { to: { email: 'a@b.example' }, variables: { unique_id: {} } }],
    ['unique_id is true', { to: { email: 'a@b.example' }, variables: { unique_id: true } }],
  ])('%s: is invalid, and the others count', (_what, item) => {
    expect(told([item, person('x')], [['a', 'b']], NONE)).toEqual([['?=x@example.com', 'invalid:0']]);
  });

  it.each<[string, Json, string]>([
    ['a phone number without +', { phone: '015112345678', email: 'a@b.example' }, 'a@b.example'],
    ['a phone number with words', { phone: '+49 call me', token: 't' }, 't'],
    ['an email address without @', { email: 'ada', phone: '+4915112345678' }, '+4915112345678'],
    ['an address with a line break', { email: 'a@b.example\r\nBcc: x@y.example', token: 't' }, 't'],
    ['a token that is empty', { token: ' ', email: 'a@b.example' }, 'a@b.example'],
  ])('%s: loses only that address', (_what, to, left) => {
    expect(told([{ to }], [['a']], NONE)).toEqual([[`a=${left}`, 'invalid_address:a']]);
  });

  it('is accepted with null or missing keys', () => {
    expect(told([{ to: { email: null, phone: '+4915112345678' } }], [['a']], NONE)).toEqual([['a=+4915112345678', '']]);
    expect(told([{ to: {} }], [['a']], NONE)).toEqual([['a=nowhere', '']]);
  });
});

it.each([
  ['each about its own', NONE, 2],
  ['in order', IN_ORDER, 2],
  ['by a match', MATCH, 2],
] as const)('an unreadable item of a partner’s answer is invalid, %s, and affects no other', (_, how, found) => {
  const unread = new Map([[1, 'it names a field twice']]);
  const answer = attribute([person('a'), null, person('c')], [['a', 'b', 'c']], how, unread);
  if (!answer.ok) throw new Error(answer.error);
  expect(answer.value[0]?.items).toHaveLength(found);
  expect(answer.value[0]?.problems).toContainEqual(
    expect.objectContaining({ kind: 'invalid', index: 1, detail: 'it names a field twice' }),
  );
});

it('an answer of a hundred thousand items is limited to 500 people and 50 described problems, all counted', () => {
  const items = Array.from({ length: 100_000 }, (_, at) => (at < 600 ? person(at) : 'no'));
  const answer = attribute(items, [['a']], NONE);
  expect(answer.ok && answer.value[0]).toMatchObject({ problemCounts: { too_many: 99_500 } });
  expect(answer.ok && answer.value[0]?.items).toHaveLength(500);
  expect(answer.ok && answer.value[0]?.problems).toHaveLength(50);
});

it('an answer of unknown and repeated ids for a hundred triggers costs as much as for one', () => {
  const items = Array.from({ length: 24_000 }, (_, at) => person(at % 2 === 0 ? `stranger ${at}` : 'a'));
  const asked = Array.from({ length: 100 }, () => ['a']);
  // Processor time of this thread: how busy the machine is does not count.
  const spent = Array.from({ length: 3 }, () => {
    const before = process.threadCpuUsage();
    const answer = attribute(items, asked, MATCH);
    const { user, system } = process.threadCpuUsage(before);
    const problemCounts = { extra: 12_000, duplicate: 11_999 };
    expect(answer.ok && answer.value.every((own) => own.problemCounts.extra === problemCounts.extra)).toBe(true);
    expect(answer.ok && answer.value[99]).toMatchObject({ items: [{ userId: 'a' }], problemCounts });
    return (user + system) / 1000;
  });
  expect(Math.min(...spent)).toBeLessThan(250);
});

it('reading a partner’s answer never throws, returns only requested ids, and finds or misses every requested one', () => {
  const id = fc.constantFrom('a', 'b', 'c', 'd');
  const item = fc.oneof(
    id.map((one) => person(one)),
    fc.record({
      to: fc.oneof(fc.constant(null), fc.dictionary(fc.string(), fc.jsonValue())),
      variables: fc.jsonValue(),
    }),
    fc.jsonValue(),
  ) as fc.Arbitrary<Json>;
  const asked = fc.array(fc.uniqueArray(id, { minLength: 1 }), { minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(fc.array(item, { maxLength: 6 }), asked, fc.constantFrom(MATCH, IN_ORDER, NONE), (items, ids, how) => {
      const answer = attribute(items, ids, how);
      if (ids.length === 1) expect(answer.ok).toBe(true);
      if (!answer.ok) return;
      for (const [at, own] of answer.value.entries()) {
        const mine: readonly string[] = ids[at] ?? [];
        for (const { userId } of own.items) expect(userId === null || mine.includes(userId)).toBe(true);
        if (how.kind !== 'match') continue;
        const seen = new Set([...own.items, ...own.problems].map(({ userId }) => userId));
        for (const one of mine) expect(seen.has(one)).toBe(true);
      }
    }),
    { numRuns: 500 },
  );
});
