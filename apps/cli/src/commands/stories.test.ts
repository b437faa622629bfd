import { describe, expect, it } from 'vitest';
import { stepTimeFormat } from './stories.ts';

const NOW = new Date('2026-03-02T12:00:00Z');

describe('stepTimeFormat', () => {
  it('leaves out the day if all steps happened today', () => {
    const format = stepTimeFormat([{ at: '2026-03-02T11:59:00.123Z' }, { at: null }], NOW);
    expect(format('2026-03-02T11:59:00.123Z')).toBe('11:59:00.123');
    expect(format(null)).toBe(' '.repeat(12));
  });

  it('shows the day of every step if one happened on another day', () => {
    const format = stepTimeFormat([{ at: '2026-03-01T23:59:59.999Z' }, { at: '2026-03-02T00:00:00.000Z' }], NOW);
    expect(format('2026-03-02T00:00:00.000Z')).toBe('2026-03-02 00:00:00.000');
    expect(format(null)).toBe(' '.repeat(23));
  });
});
