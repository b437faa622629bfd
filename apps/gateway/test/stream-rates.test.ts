import type { EventStream } from '@carillon/domain';
import { isCarillonError } from '@carillon/kernel';
import { expect, test } from 'vitest';
import { createStreamRates } from '../src/stream-rates.ts';

const streamWith = (path: string, perSecond: number): EventStream => ({
  workspace: 'shop',
  path,
  key: null,
  time: null,
  security: { api_keys: ['backend'] },
  rate: { per_second: perSecond, burst: 1 },
});

test('each refusal says when there is room again: anew where that has changed, and where the rate has', () => {
  const rates = createStreamRates();
  const slow = streamWith('shop/slow', 0.1);
  const takeAt = (now: number, stream = slow): unknown => {
    try {
      rates.take(stream, now);
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
