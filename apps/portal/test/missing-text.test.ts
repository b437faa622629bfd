import { describe, expect, it } from 'vitest';
import { missingText, readRate, sendingText, waitingText } from '../src/screens/runs/missing-text.ts';

const look = (messages: number, people: number, events = 0, userIds = 0) =>
  missingText({ messages, people, needs_lookup: { events, user_ids: userIds } } as never);

describe('the words of missing messages', () => {
  it('have messages and people, and the events whose partner is asked', () => {
    expect(look(33, 31)).toBe('33 messages to 31 people.');
    expect(look(1, 1)).toBe('1 message to 1 person.');
    expect(look(0, 0, 2, 5)).toBe('2 events with 5 user ids to ask a partner about.');
    expect(look(2, 2, 1, 1)).toBe('2 messages to 2 people, and 1 event with 1 user id to ask a partner about.');
  });

  it('say how far a sending job is, and how it ended', () => {
    const said = (state: string, done: number, failed = 0) => sendingText({ state, of: 33, done, failed } as never);
    expect(said('running', 12)).toBe('Under way: 12 of 33 queued for delivery.');
    expect(said('done', 31, 2)).toBe('Done: 31 of 33 queued for delivery, 2 failed.');
    expect(said('cancelled', 12)).toBe('Stopped: 12 of 33 queued for delivery.');
    expect(said('failed', 0, 33)).toBe('Failed: 0 of 33 queued for delivery, 33 failed.');
  });

  it('say what a stop could not recall', () => {
    const said = (waiting: number, uncounted = 0) =>
      waitingText({ waiting_lookups: waiting, uncounted_lookups: uncounted });
    expect(said(0)).toBeNull();
    expect(said(1)).toMatch(/^1 question to a partner cannot be recalled/);
    expect(said(2, 700)).toMatch(/^2 questions to a partner, and maybe some of 700 older ones, cannot be recalled/);
  });

  it('take a rate from 1 to 1000', () => {
    expect(['1', '10', ' 1000 '].map(readRate)).toEqual([1, 10, 1000]);
    for (const text of ['', '0', '1001', '1.5', '-1', 'ten']) expect(readRate(text)).toBeNull();
  });
});
