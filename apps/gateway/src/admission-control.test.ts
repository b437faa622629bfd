import type { CarillonError } from '@carillon/kernel';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createAdmissionControl, type Holder, type Permit } from './admission-control.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

const holder = (workspace: string, credential = 'key'): Holder => ({ workspace, credential });
const A = holder('a');
const B = holder('b');

function make(maxInFlightRequests: number, maxInFlightBytes = 1_000_000) {
  const refused: string[] = [];
  const places = createAdmissionControl({ maxInFlightRequests, maxInFlightBytes }, (why) => void refused.push(why));
  /** What bodies that were cut off are answered. */
  const cut: string[] = [];
  /** So many requests whose body has not come, but for some bytes. */
  const slow = (count: number, of: Holder, bytes = 1): readonly Permit[] =>
    Array.from({ length: count }, () => {
      const place = places.enter(of);
      place.arriving((refusal: CarillonError) => void cut.push(`${of.workspace}/${of.credential} ${refusal.code}`));
      place.take(bytes);
      return place;
    });
  /** So many requests that wait for the log. */
  const whole = (count: number, of: Holder, bytes = 1): readonly Permit[] =>
    slow(count, of, bytes).map((place) => {
      place.whole();
      return place;
    });
  return { places, slow, whole, cut, refused, held: () => places.held() };
}
const codeOf = (act: () => unknown): string => {
  try {
    act();
    return 'entered';
  } catch (error) {
    return (error as CarillonError).code;
  }
};

describe('places', () => {
  test('are all available to one holder while nobody else asks, and no more than the maximum', () => {
    const { whole, held } = make(16);
    whole(16, A);
    expect(codeOf(() => whole(1, A))).toBe('overloaded');
    expect(held().places).toBe(16);
  });

  test('are released once only, and a holder without permits is forgotten', () => {
    const { whole, held } = make(2);
    for (let round = 0; round < 5; round += 1) {
      const both = [...whole(1, A), ...whole(1, B)];
      for (const place of [...both, ...both]) place.release();
    }
    expect(held()).toEqual({ places: 0, bytes: 0 });
    whole(2, A);
  });

  test('are freed for a new holder at once: a slow body of the largest holder is aborted', () => {
    const { slow, whole, cut, refused, held } = make(16);
    slow(16, A);
    whole(3, B);
    expect(cut).toEqual(['a/key overloaded', 'a/key overloaded', 'a/key overloaded']);
    expect(refused).toEqual(['others_need', 'others_need', 'others_need']);
    expect(held().places).toBe(16);
  });

  test('are there for somebody else also when all bodies are whole: there are a few to spare', () => {
    const { whole, held } = make(16);
    whole(16, A);
    whole(2, B);
    expect(held().places).toBe(18);
    expect(codeOf(() => whole(1, B))).toBe('overloaded');
  });

  test('go first to holders below their share, as long as one was refused; after that to any holder', () => {
    const { whole } = make(16);
    const held = whole(16, A);
    whole(1, B);
    for (const place of held.slice(0, 8)) place.release();
    // Nine are under way, and A holds its half.
    expect(codeOf(() => whole(1, A))).toBe('overloaded');
    whole(6, B);
    vi.advanceTimersByTime(1000);
    whole(1, A);
  });

  test('are shared fairly among the credentials of one workspace', () => {
    const { slow, whole, cut } = make(16);
    slow(16, holder('a', 'greedy'));
    whole(2, holder('a', 'quiet'));
    expect(cut).toEqual(['a/greedy overloaded', 'a/greedy overloaded']);
    // Another workspace takes from the one that holds the most, there from the credential that does.
    whole(1, B);
    expect(cut.at(-1)).toBe('a/greedy overloaded');
  });

  test('are shared per workspace: many credentials get the share of one', () => {
    const { whole } = make(16);
    for (let at = 0; at < 16; at += 1) whole(1, holder('a', `key ${at}`));
    expect(codeOf(() => whole(1, holder('a', 'one more')))).toBe('overloaded');
    whole(2, B);
  });

  test('are freed from slow bodies of the same holder when all are taken', () => {
    const { slow, whole, cut } = make(4);
    slow(4, A);
    expect(codeOf(() => whole(1, A))).toBe('overloaded');
    vi.advanceTimersByTime(300);
    whole(1, A);
    expect(cut).toEqual(['a/key overloaded']);
  });
});

describe('a slow body', () => {
  test('has to keep up 1 KB/s after 2 s', () => {
    const { slow, cut, refused, held } = make(100);
    slow(1, A, 1);
    const [steady] = slow(1, A, 2500);
    vi.advanceTimersByTime(2000);
    expect(cut).toEqual(['a/key request_timeout']);
    expect(refused).toEqual(['slow']);
    for (let second = 3; second < 10; second += 1) {
      steady?.take(1000);
      vi.advanceTimersByTime(1000);
    }
    expect(cut).toHaveLength(1);
    vi.advanceTimersByTime(2000);
    expect(cut).toHaveLength(2);
    expect(held()).toEqual({ places: 0, bytes: 0 });
  });

  test('that is complete in time may wait for the log without limit', () => {
    const { slow, cut, held } = make(100);
    const [body] = slow(1, A);
    vi.advanceTimersByTime(1900);
    body?.whole();
    vi.advanceTimersByTime(60_000);
    expect([cut, held().places]).toEqual([[], 1]);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('may hold at most a tenth of the permits per credential, and a fifth per workspace', () => {
    const { slow, held, refused } = make(100, 10_000_000);
    for (let at = 0; at < 5; at += 1) slow(20, holder('a', `key ${at}`), 9_000);
    vi.advanceTimersByTime(2500);
    expect(held().places).toBe(20);
    expect(new Set(refused)).toEqual(new Set(['too_many_slow']));
    slow(20, B, 9_000);
    vi.advanceTimersByTime(2500);
    expect(held().places).toBe(30);
  });

  test('counts no more when it is whole', () => {
    const { slow, held } = make(100);
    const bodies = slow(10, A, 9_000);
    vi.advanceTimersByTime(2500);
    for (const body of bodies) body.whole();
    slow(10, A, 9_000);
    vi.advanceTimersByTime(2500);
    expect(held().places).toBe(20);
  });
});

describe('bytes', () => {
  test('are bounded; the last eighth is for those who hold little', () => {
    const { whole, held } = make(100, 8_000);
    whole(1, A, 7_000);
    expect(codeOf(() => whole(1, A, 1))).toBe('overloaded');
    whole(1, B, 500);
    expect(codeOf(() => whole(1, B, 1))).toBe('overloaded');
    expect(held().bytes).toBe(7_500);
  });

  test('are freed from an incomplete body of the holder with the most bytes', () => {
    const { slow, whole, cut, held } = make(100, 8_000);
    slow(7, A, 1_000);
    whole(1, B, 3_000);
    expect(cut).toHaveLength(3);
    expect(held().bytes).toBe(7_000);
    // It is no reason to cut off somebody who holds less.
    expect(codeOf(() => whole(1, A, 3_000))).toBe('overloaded');
  });
});

describe('what is held', () => {
  test('is released when a hopelessly slow body asks for more bytes than are left', () => {
    const { slow, cut, held } = make(100, 8_000);
    const [large] = slow(1, A, 6_900);
    const [hopeless] = slow(1, A, 100);
    vi.advanceTimersByTime(300);
    expect(codeOf(() => hopeless?.take(50))).toBe('overloaded');
    expect([cut, held()]).toEqual([[], { places: 2, bytes: 7_000 }]);
    hopeless?.release();
    large?.release();
    expect(held()).toEqual({ places: 0, bytes: 0 });
  });

  test('is not more by what comes after a body was cut off', () => {
    const { slow, cut, held } = make(100);
    const [late] = slow(1, A);
    vi.advanceTimersByTime(2000);
    expect(cut).toEqual(['a/key request_timeout']);
    expect(codeOf(() => late?.take(100))).toBe('overloaded');
    expect(held()).toEqual({ places: 0, bytes: 0 });
  });

  test('equals the sum over current holders and never exceeds the bounds, in any order of steps', () => {
    const at = fc.nat(30);
    const bytes = fc.oneof(fc.nat(100), fc.nat(4_000));
    const step = fc.oneof(
      fc.record({
        kind: fc.constant('enter' as const),
        of: fc.constantFrom(A, holder('a', 'other'), B),
        bytes,
      }),
      fc.record({ kind: fc.constant('take' as const), at, bytes }),
      fc.record({ kind: fc.constantFrom('whole' as const, 'leave' as const), at }),
      fc.record({ kind: fc.constant('wait' as const), for: fc.constantFrom(100, 300, 2_000) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60, size: 'max' }), (steps) => {
        const places = createAdmissionControl({ maxInFlightRequests: 8, maxInFlightBytes: 8_000 });
        const entered: { readonly place: Permit; isThere: boolean; bytes: number }[] = [];
        const take = (one: (typeof entered)[number], count: number): void => {
          if (codeOf(() => one.place.take(count)) === 'entered') one.bytes += count;
        };
        const enter = (of: Holder, count: number): void => {
          const one = { place: places.enter(of), isThere: true, bytes: 0 };
          one.place.arriving(() => void (one.isThere = false));
          entered.push(one);
          take(one, count);
        };
        const leave = (one: (typeof entered)[number]): void => {
          one.place.release();
          one.isThere = false;
        };
        for (const next of steps) {
          const one = 'at' in next ? entered[next.at % Math.max(1, entered.length)] : undefined;
          if (next.kind === 'enter') codeOf(() => enter(next.of, next.bytes));
          else if (next.kind === 'wait') vi.advanceTimersByTime(next.for);
          else if (one && next.kind === 'take') take(one, next.bytes);
          else if (one && next.kind === 'whole') one.place.whole();
          else if (one) leave(one);
          const there = entered.filter(({ isThere }) => isThere);
          const sum = there.reduce((all, { bytes: some }) => all + some, 0);
          expect(places.held()).toEqual({ places: there.length, bytes: sum });
          expect(there.length).toBeLessThanOrEqual(9);
          expect(sum).toBeLessThanOrEqual(8_000);
        }
        for (const one of entered) leave(one);
        expect(places.held()).toEqual({ places: 0, bytes: 0 });
      }),
      { numRuns: 500 },
    );
  });
});
