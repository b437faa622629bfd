import { unmetBinding } from '../../src/events/index.ts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

const BINDING = { sub: 'event.user.id' };
const why = (sub: unknown, id: unknown): string | null =>
  unmetBinding(BINDING, { sub } as never, { user: { id } } as never)?.why ?? null;

describe('a token claim that must equal a field of the event', () => {
  test('matches the same text, the same whole number, and a number written as text', () => {
    expect(why('ada', 'ada')).toBeNull();
    expect(why(42, 42)).toBeNull();
    expect(why('42', 42)).toBeNull();
    expect(why(9007199254740993n, '9007199254740993')).toBeNull();
  });

  test.each([
    ['ada', 'Ada', 'differs'],
    ['ada', 'ada ', 'differs'],
    ['ada', 'a\u0064a\u0301', 'differs'],
    ['\u00e9', 'e\u0301', 'differs'],
    [42, 43, 'differs'],
    ['42', '042', 'differs'],
    [9007199254740993n, 9007199254740992n, 'differs'],
    ['ada', undefined, 'no_field'],
    ['ada', null, 'no_field'],
    ['ada', '', 'no_field'],
    ['ada', ['ada'], 'no_field'],
    ['ada', { toString: 'ada' }, 'no_field'],
    [undefined, 'ada', 'no_claim'],
    [undefined, undefined, 'no_claim'],
    [null, null, 'no_claim'],
    ['', '', 'no_claim'],
    [['ada'], 'ada', 'no_claim'],
    [{ a: 1 }, 'ada', 'no_claim'],
    [true, true, 'no_claim'],
    [1.5, 1.5, 'no_claim'],
  ])('does not match for the claim %s and the field %s: %s', (claim, field, reason) => {
    expect(why(claim, field)).toBe(reason);
  });

  test('is looked up by its exact name: nothing inherited, no path within claims', () => {
    expect(unmetBinding({ toString: 'event.a' }, {}, { a: 'x' })?.why).toBe('no_claim');
    expect(unmetBinding({ 'a.b': 'event.a' }, { a: { b: 'x' } }, { a: 'x' })?.why).toBe('no_claim');
    expect(unmetBinding({ 'https://x.example/id': 'event.a' }, { 'https://x.example/id': 'x' }, { a: 'x' })).toBeNull();
  });

  test('is one of several: the first that does not match is named', () => {
    const bindings = { sub: 'event.user', org: 'event.org' };
    expect(unmetBinding(bindings, { sub: 'a', org: 'o' }, { user: 'a', org: 'p' })).toEqual({
      claim: 'org',
      path: 'event.org',
      why: 'differs',
    });
  });

  test('never matches another text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (a, b) => {
        expect(why(a, b) === null).toBe(a === b && a !== '');
      }),
    );
  });
});
