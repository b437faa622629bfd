import { dueAt } from '../../src/cadence/index.ts';
import { describe, expect, it } from 'vitest';

const at = Date.parse('2026-11-22T12:00:00Z');
const HOUR = 3_600_000;
const UNTIL = { until: 'event.starts_at' };

describe('a delay', () => {
  it('given none, then the message is due when the log has its cause', () => {
    expect(dueAt(undefined, at, 'UTC', null)).toBe(at);
  });

  it('given a span, then the message is due so long after the log has its cause', () => {
    expect(dueAt('2h', at, 'UTC', null)).toBe(at + 2 * HOUR);
  });

  it('given a time of the event, then it is due then; given one that has passed, then at once', () => {
    expect(dueAt(UNTIL, at, 'UTC', at + HOUR)).toBe(at + HOUR);
    expect(dueAt(UNTIL, at, 'UTC', at - HOUR)).toBe(at);
  });

  it('given a local time, then it is due at the next such time of the recipient, this very moment included', () => {
    expect(dueAt({ local_time: '13:00' }, at, 'Europe/Berlin', null)).toBe(at);
    expect(dueAt({ local_time: '13:30' }, at, 'Europe/Berlin', null)).toBe(at + HOUR / 2);
    expect(dueAt({ local_time: '12:59' }, at, 'Europe/Berlin', null)).toBe(at + 24 * HOUR - 60_000);
  });
});
