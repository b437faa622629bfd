import { EMPTY_CONFIGURATION } from '@carillon/domain/configuration';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { keepRetention } from './keep-retention.ts';

const MINUTE = 60_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('a failed pass of retention is repeated within a minute, and one that succeeded after an hour', async () => {
  const outcomes = [new Error('the database is away')];
  const applyRetention = vi.fn<() => Promise<void>>(async () => {
    const fault = outcomes.shift();
    if (fault) throw fault;
  });
  const trouble = vi.fn<() => void>();
  const ends: (() => unknown)[] = [];
  keepRetention(
    {
      backend: { applyRetention, leases: { acquire: async () => true } },
      clock: { now: () => Date.now() },
      ids: { random: () => 'holder' },
      configuration: { current: () => EMPTY_CONFIGURATION },
      watches: { trouble },
    },
    { add: (end) => void ends.push(end) },
  );
  await vi.advanceTimersByTimeAsync(0);
  expect([applyRetention.mock.calls.length, trouble.mock.calls.length]).toEqual([1, 1]);
  await vi.advanceTimersByTimeAsync(MINUTE);
  expect(applyRetention).toHaveBeenCalledTimes(2);
  await vi.advanceTimersByTimeAsync(59 * MINUTE);
  expect(applyRetention).toHaveBeenCalledTimes(2);
  await vi.advanceTimersByTimeAsync(MINUTE);
  expect(applyRetention).toHaveBeenCalledTimes(3);
  for (const end of ends) await end();
});
