import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { HttpLogFacts } from './http-log.ts';
import { createRefusalLog } from './refusal-log.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

function start() {
  const told: HttpLogFacts[] = [];
  const sums = createRefusalLog({ warn: (facts) => void told.push(facts), error: () => undefined });
  const refuse = (id: string, code = 'overloaded'): void =>
    sums.tell({ request_id: id, method: 'POST', route: '/events/*', code }, 'The server is overloaded');
  /** Lines logged since the last call. */
  const lines = () => told.splice(0).map(({ request_id, code, count }) => [request_id, code, count ?? 1]);
  return { sums, refuse, lines };
}

test('the first refusal is logged at once, and later ones once a second in one line with their count', () => {
  const { refuse, lines } = start();
  for (const id of ['a', 'b', 'c']) refuse(id);
  expect(lines()).toEqual([['a', 'overloaded', 1]]);
  vi.advanceTimersByTime(1000);
  expect(lines()).toEqual([['c', 'overloaded', 2]]);
  refuse('d');
  expect(lines()).toEqual([]);
  vi.advanceTimersByTime(1000);
  expect(lines()).toEqual([['d', 'overloaded', 1]]);
});

test('after a second without refusals the next is logged at once, and no timer remains', () => {
  const { refuse, lines } = start();
  refuse('a');
  vi.advanceTimersByTime(1000);
  expect(vi.getTimerCount()).toBe(0);
  refuse('b');
  expect(lines()).toEqual([
    ['a', 'overloaded', 1],
    ['b', 'overloaded', 1],
  ]);
});

test('different kinds of refusals are counted separately', () => {
  const { refuse, lines } = start();
  for (const id of ['a', 'b']) for (const code of ['overloaded', 'configuration_stale']) refuse(id, code);
  vi.advanceTimersByTime(1000);
  expect(lines()).toEqual([
    ['a', 'overloaded', 1],
    ['a', 'configuration_stale', 1],
    ['b', 'overloaded', 1],
    ['b', 'configuration_stale', 1],
  ]);
});

test('pending counts are logged on close, and no timer remains', () => {
  const { sums, refuse, lines } = start();
  for (const id of ['a', 'b', 'c']) refuse(id);
  sums.flush();
  expect(lines()).toEqual([
    ['a', 'overloaded', 1],
    ['c', 'overloaded', 2],
  ]);
  expect(vi.getTimerCount()).toBe(0);
});
