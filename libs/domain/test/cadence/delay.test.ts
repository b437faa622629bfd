import { dueAt } from '../../src/cadence/index.ts';
import { describe, expect, it } from 'vitest';

const at = Date.parse('2026-11-22T12:00:00Z');
const HOUR = 3_600_000;
const UNTIL = { until: 'event.starts_at' };

describe('the delay of a message', () => {
  it('defaults to none, so that the message is due when its event is on the log', () => {
    expect(dueAt(undefined, at, 'UTC', null)).toBe(at);
  });

  it('of a given duration counts from the moment when the event is on the log', () => {
    expect(dueAt('2h', at, 'UTC', null)).toBe(at + 2 * HOUR);
  });

  it('until a time in the event ends at that time, or at once if the time has passed', () => {
    expect(dueAt(UNTIL, at, 'UTC', at + HOUR)).toBe(at + HOUR);
    expect(dueAt(UNTIL, at, 'UTC', at - HOUR)).toBe(at);
  });

  it('until a local time ends at its next occurrence for the recipient, which may be now', () => {
    expect(dueAt({ local_time: '13:00' }, at, 'Europe/Berlin', null)).toBe(at);
    expect(dueAt({ local_time: '13:30' }, at, 'Europe/Berlin', null)).toBe(at + HOUR / 2);
    expect(dueAt({ local_time: '12:59' }, at, 'Europe/Berlin', null)).toBe(at + 24 * HOUR - 60_000);
  });
});
