import { formatTraceparent, parseTraceparent } from '@carillon/kernel';
import { expect, test } from 'vitest';
import { newTraceContext } from './new-trace.ts';

test('new contexts are valid and unique', () => {
  const made = Array.from({ length: 1000 }, () => newTraceContext(true));
  for (const context of made) expect(parseTraceparent(formatTraceparent(context))).toEqual(context);
  expect(new Set(made.map(({ traceId }) => traceId)).size).toBe(1000);
  expect(new Set(made.map(({ spanId }) => spanId)).size).toBe(1000);
});

test('new contexts sort by creation time', () => {
  const before = Date.now();
  const times = Array.from({ length: 300 }, () => Number.parseInt(newTraceContext(true).traceId.slice(0, 12), 16));
  expect(times).toEqual(times.toSorted((one, other) => one - other));
  expect(Number(times[0])).toBeGreaterThanOrEqual(before);
  expect(Number(times.at(-1))).toBeLessThanOrEqual(Date.now());
});
