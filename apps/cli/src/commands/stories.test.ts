import { describe, expect, it } from 'vitest';
import { stepTimeFormat } from './stories.ts';

const NOW = new Date('2026-03-02T12:00:00Z');

describe('stepTimeFormat', () => {
  it('leaves out the day if all steps happened today', () => {
    const format = stepTimeFormat([{ at: '2026-03-02T11:59:00.123Z' }, { at: null }], 'UTC', NOW);
    expect(format('2026-03-02T11:59:00.123Z')).toBe('11:59:00.123');
    expect(format(null)).toBe(' '.repeat(12));
  });

  it('shows the day of every step if one happened on another day', () => {
    const format = stepTimeFormat([{ at: '2026-03-01T23:59:59.999Z' }, { at: '2026-03-02T00:00:00.000Z' }], 'UTC', NOW);
    expect(format('2026-03-02T00:00:00.000Z')).toBe('2026-03-02 00:00:00.000');
    expect(format(null)).toBe(' '.repeat(23));
  });

  it('takes the day and the clock of the zone, with its offset', () => {
    const at = '2026-03-01T23:30:00.123Z';
    expect(stepTimeFormat([{ at }], 'Europe/Vienna', new Date('2026-03-02T22:59:59Z'))(at)).toBe('00:30:00.123+01:00');
    const tomorrow = stepTimeFormat([{ at }], 'Europe/Vienna', new Date('2026-03-02T23:00:00Z'));
    expect(tomorrow(at)).toBe('2026-03-02 00:30:00.123+01:00');
    expect(tomorrow(null)).toBe(' '.repeat(29));
  });
});
