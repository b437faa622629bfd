import { callBegun, callEnded, callNotMade, CLOSED, mayCallAt, type CallEnd } from '../../src/breaker/index.ts';
import { describe, expect, it } from 'vitest';

describe('a circuit breaker for calls of a provider', () => {
  const after = (ends: readonly CallEnd[], every = 1000) =>
    ends.reduce((breaker, end, index) => callEnded(breaker, end, 'why', index * every), CLOSED);
  const bad = (count: number): CallEnd[] => Array.from({ length: count }, () => 'bad');
  const good = (count: number): CallEnd[] => Array.from({ length: count }, () => 'good');

  it('opens for half a minute when six of ten calls of the last five minutes failed, not before', () => {
    expect(mayCallAt(after([...good(4), ...bad(6)]), 9000)).toBe(39_000);
    expect(mayCallAt(after([...good(5), ...bad(5)]), 9000)).toBe(9000);
    expect(mayCallAt(after(bad(9)), 8000)).toBe(8000);
    expect(mayCallAt(after(bad(10), 40_000), 360_000)).toBe(360_000);
  });
  it('opens for a server that lets all calls on five connections hang for a minute', () => {
    const hung = Array.from({ length: 15 }, (_, index) => 60_000 * (1 + Math.floor(index / 5)));
    const breaker = hung.reduce((now, at) => callEnded(now, 'bad', 'silent', at), CLOSED);
    expect(mayCallAt(breaker, 180_000)).toBeGreaterThan(120_000 + 1);
    expect(breaker.halfOpen).toBe(true);
  });
  it('lets one probe call through after that, whose result decides', () => {
    const open = after(bad(10));
    expect(mayCallAt(open, 38_999)).toBe(39_000);
    expect(mayCallAt(open, 39_000)).toBe(39_000);
    const probing = callBegun(open, 39_000);
    expect(mayCallAt(probing, 39_001)).toBeGreaterThan(39_001);
    expect(callEnded(probing, 'good', '', 40_000)).toEqual(CLOSED);
    expect(mayCallAt(callEnded(probing, 'bad', '', 40_000), 40_001)).toBe(70_000);
  });
  it('does not wait forever for a probe that never returned', () => {
    const probing = callBegun(after(bad(10)), 39_000);
    expect(mayCallAt(probing, 39_000 + 120_000)).toBe(159_000);
  });
  it('blocks no longer, and does not probe for ever, if the clock is set back by an hour', () => {
    const hour = 3_600_000;
    const refused = callEnded(CLOSED, 'shut', '', hour + 5);
    expect(mayCallAt(refused, 5)).toBe(5);
    expect(mayCallAt(callBegun(refused, hour + 60_005), 5)).toBe(5);
  });
  it('blocks calls for a minute after the provider refused our account or request', () => {
    expect(mayCallAt(callEnded(CLOSED, 'shut', '', 5), 6)).toBe(60_005);
  });
  it('makes the next call the probe if the previous probe was not made', () => {
    const probing = callBegun(after(bad(10)), 39_000);
    expect(mayCallAt(callNotMade(probing), 39_001)).toBe(39_001);
    expect(callEnded(callNotMade(probing), 'bad', '', 40_000).openUntil).toBe(70_000);
  });
});
