import type { EventStream } from '@carillon/domain/configuration';
import { isCarillonError } from '@carillon/kernel';
import { expect, test } from 'vitest';
import { createStreamRates } from '../src/stream-rates.ts';

const streamWith = (path: string, perSecond: number): EventStream => ({
  workspace: 'shop',
  path,
  from: null,
  key: null,
  time: null,
  format: 'json',
  security: { api_keys: ['backend'] },
  rate: { per_second: perSecond, burst: 1 },
});

test('each rate refusal gives its retry time, recalculated when it or the rate has changed', () => {
  const rates = createStreamRates();
  const slow = streamWith('shop/slow', 0.1);
  const takeAt = (now: number, stream = slow): unknown => {
    try {
      rates.take(stream, 'api_key:backend/1', now);
    } catch (error) {
      if (!isCarillonError(error)) throw error;
      const { code, facts } = error;
      return [code, facts.limit, facts.retryAfter];
    }
    return 'taken';
  };
  expect(takeAt(0)).toBe('taken');
  expect(takeAt(0)).toEqual(['rate_limited', '0.1 events per second', 10_000]);
  expect(takeAt(0)).toEqual(['rate_limited', '0.1 events per second', 10_000]);
  expect(takeAt(0, streamWith('shop/other', 0.1))).toBe('taken');
  expect(takeAt(4_000)).toEqual(['rate_limited', '0.1 events per second', 6_000]);
  expect(takeAt(4_000, streamWith('shop/slow', 0.2))).toEqual(['rate_limited', '0.2 events per second', 3_000]);
  expect(takeAt(14_001)).toBe('taken');
  expect(takeAt(14_002)).toEqual(['rate_limited', '0.1 events per second', 10_000]);
});

const tokens = (more: Partial<EventStream> = {}): EventStream => ({
  workspace: 'shop',
  path: 'shop/clicks',
  from: null,
  key: null,
  time: null,
  format: 'json',
  security: { jwt_provider: 'auth' },
  ...more,
});
/** How many of so many events at one moment are taken. */
const taken = (stream: EventStream, principals: readonly string[], events: number): readonly number[] => {
  const rates = createStreamRates();
  return principals.map((principal) => {
    let count = 0;
    for (let at = 0; at < events; at += 1) {
      try {
        rates.take(stream, principal, 0);
        count += 1;
      } catch (error) {
        expect(error).toMatchObject({ code: 'rate_limited' });
      }
    }
    return count;
  });
};

test('on a token stream each credential has a rate that nobody has to set, and takes no room from the others', () => {
  expect(taken(tokens(), ['jwt_provider:auth/ada', 'jwt_provider:auth/bob'], 300)).toEqual([100, 100]);
  const set = tokens({ rate_per_credential: { per_second: 1, burst: 3 }, rate: { per_second: 4 } });
  expect(taken(set, ['ada', 'bob'], 300)).toEqual([3, 1]);
});

test('with API keys there is none, unless it is set', () => {
  const keyed = tokens({ security: { api_keys: ['backend'] } });
  expect(taken(keyed, ['api_key:backend/1'], 500)).toEqual([500]);
  expect(taken({ ...keyed, rate_per_credential: { per_second: 2 } }, ['a', 'b'], 5)).toEqual([2, 2]);
});
