import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pause, readRetryAfter, waitBefore } from '../src/waiting.ts';

const NOW = Date.parse('2026-01-31T12:00:00Z');

describe('A Retry-After', () => {
  it.each([
    ['0', 0],
    ['120', 120_000],
    [' 7 ', 7000],
    ['Sat, 31 Jan 2026 12:01:00 GMT', 60_000],
    ['Sat, 31 Jan 2026 11:00:00 GMT', 0],
    [null, null],
    ['soon', null],
    ['-5', null],
  ])('of %j is read as %j', (header, expected) => {
    expect(readRetryAfter(header, NOW)).toBe(expected);
  });
});

describe('The wait before the next attempt', () => {
  it('is exactly what the server requests', () => {
    expect(waitBefore(1, 120_000, Math.random)).toBe(120_000);
  });

  it('is between half and all of half a second that doubles, and at most half a minute', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2_000 }), fc.double({ min: 0, max: 1, noNaN: true }), (attempt, random) => {
        const most = Math.min(30_000, 500 * 2 ** (attempt - 1));
        const wait = waitBefore(attempt, null, () => random);
        expect(wait).toBeGreaterThanOrEqual(most / 2);
        expect(wait).toBeLessThanOrEqual(most);
      }),
    );
  });

  it('ends when the signal aborts, also if it has aborted before', async () => {
    await pause(1_000_000, AbortSignal.abort());
    const ending = new AbortController();
    const paused = pause(1_000_000, ending.signal);
    ending.abort();
    await paused;
  });
});
