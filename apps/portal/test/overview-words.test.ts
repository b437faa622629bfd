import { describe, expect, it } from 'vitest';
import { endsWords, numbersWords, progressWords, type Step } from '../src/screens/overview/overview-words.ts';

const steps = (...done: readonly string[]): Step[] =>
  ['look', 'notification', 'key', 'event'].map((id) => ({ id, name: id, isDone: done.includes(id) }));

describe('the words of the overview', () => {
  it('count the steps to the first message', () => {
    expect(progressWords(steps('notification', 'key'))).toBe('2 of 4 done: your first message is 2 steps away');
    expect(progressWords(steps('look', 'notification', 'key'))).toBe(
      '3 of 4 done: your first message is one step away',
    );
    expect(progressWords(steps('look', 'notification', 'key', 'event'))).toBe('All done: your first message was sent');
  });

  it('do not call a first message pending after an event arrived', () => {
    expect(progressWords(steps('notification', 'key', 'event'))).toBe('3 of 4 done: an event came; one step is left');
    expect(progressWords(steps('event'))).toBe('1 of 4 done: an event came; 3 steps are left');
  });

  it('name messages and people with singular and plural, and mark a count as a minimum', () => {
    const doubt = { deliveries: 2, complete: false, oldest_at: null };
    expect(numbersWords({ messages: 1, people: 1, in_doubt: doubt, failing_accounts: [] })).toBe(
      '1 message in 24 hours to 1 person · 2 or more in doubt · 0 failing accounts',
    );
    expect(numbersWords({ messages: 0, people: 0, in_doubt: { ...doubt, complete: true }, failing_accounts: [] })).toBe(
      '0 messages in 24 hours · 2 in doubt · 0 failing accounts',
    );
  });

  it('say when a key ends in whole days', () => {
    const now = Date.parse('2026-01-01T00:00:00Z');
    expect(endsWords('2025-12-31T23:59:59Z', now)).toBe('has expired');
    expect(endsWords('2026-01-01T23:59:59Z', now)).toBe('expires within a day');
    expect(endsWords('2026-01-02T00:00:00Z', now)).toBe('expires in 1 day');
    expect(endsWords('2026-01-07T12:00:00Z', now)).toBe('expires in 6 days');
  });
});
