import { LONGEST_DELAY, sendAtOf } from '@carillon/domain';
import { describe, expect, it } from 'vitest';

const at = Date.parse('2026-11-22T12:00:00Z');
const HOUR = 3_600_000;

describe('a delay', () => {
  it('given a span, then the message is due so long after the log has its cause', () => {
    expect(sendAtOf({ kind: 'fixed', span: 2 * HOUR }, at, 'UTC')).toBe(at + 2 * HOUR);
  });

  it('given a time of the event, then it is due then; given one that has passed, then at once', () => {
    expect(sendAtOf({ kind: 'until', at: at + HOUR }, at, 'UTC')).toBe(at + HOUR);
    expect(sendAtOf({ kind: 'until', at: at - HOUR }, at, 'UTC')).toBe(at);
  });

  it('given a local time, then it is due at the next such time of the recipient, this very moment included', () => {
    expect(sendAtOf({ kind: 'local_time', minute: 13 * 60 }, at, 'Europe/Berlin')).toBe(at);
    expect(sendAtOf({ kind: 'local_time', minute: 13 * 60 + 30 }, at, 'Europe/Berlin')).toBe(at + HOUR / 2);
    expect(sendAtOf({ kind: 'local_time', minute: 12 * 60 + 59 }, at, 'Europe/Berlin')).toBe(at + 24 * HOUR - 60_000);
  });

  it('given more than 366 days, then there is no such time', () => {
    expect(sendAtOf({ kind: 'until', at: at + LONGEST_DELAY }, at, 'UTC')).toBe(at + LONGEST_DELAY);
    expect(sendAtOf({ kind: 'until', at: at + LONGEST_DELAY + 1 }, at, 'UTC')).toBeUndefined();
    expect(sendAtOf({ kind: 'fixed', span: 2 * LONGEST_DELAY }, at, 'UTC')).toBeUndefined();
  });
});
