import { formatTraceparent, parseTraceparent } from '@carillon/kernel';
import { expect, test } from 'vitest';
import { newTraceContext } from './new-trace.ts';

test('new contexts are valid and never the same', () => {
  const made = Array.from({ length: 1000 }, () => newTraceContext(true));
  for (const context of made) expect(parseTraceparent(formatTraceparent(context))).toEqual(context);
  expect(new Set(made.map(({ traceId }) => traceId)).size).toBe(1000);
  expect(new Set(made.map(({ spanId }) => spanId)).size).toBe(1000);
});
