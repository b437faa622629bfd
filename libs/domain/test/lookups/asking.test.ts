import {
  afterDeadline,
  afterFailure,
  askAlone,
  newAsking,
  type Asking,
  type CallEvidence,
  type FailedCall,
} from '../../src/lookups/index.ts';
import { givenTrigger } from '@carillon/testing/given';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

const origin = { partition: 0, offset: 3, key: 'k' };
const fresh = newAsking(givenTrigger(), origin);

type Outcome = FailedCall['evidence']['outcome'];
const failed = (outcome: Outcome, more: Partial<CallEvidence> = {}, retryAfter: number | null = null): FailedCall => ({
  evidence: { at: 1000, callId: 'req_1', status: 500, detail: 'no', took: 0, sharedBy: 1, ...more, outcome },
  retryAfter,
  toEverybody: false,
});
/** What a run of calls leaves; `chance` 0 is the longest pause. */
const after = (outcomes: readonly Outcome[], asking: Asking = fresh): ReturnType<typeof afterFailure> =>
  outcomes.reduce((before, outcome) => afterFailure(before.asking, failed(outcome), 0), { asking, nextAt: 0 });

describe('a question to a partner who does not answer', () => {
  it('is retried after a pause that doubles up to five minutes', () => {
    const pauses = [1, 2, 3, 4, 20].map((calls) => after(Array<Outcome>(calls).fill('unavailable')).nextAt - 1000);
    expect(pauses).toEqual([1000, 2000, 4000, 8000, 300_000]);
    expect(after(Array<Outcome>(50).fill('unavailable')).asking.verdict).toBeNull();
  });

  it('is retried at the time that the partner names, within ten minutes and never before the pause', () => {
    const nextAt = (retryAfter: number | null) =>
      afterFailure(fresh, failed('throttled', {}, retryAfter), 0).nextAt - 1000;
    expect([nextAt(null), nextAt(100), nextAt(30_000), nextAt(86_400_000)]).toEqual([1000, 1000, 30_000, 600_000]);
  });

  it('waits while the partner refuses the key; this has no deadline of its own', () => {
    expect(after(Array<Outcome>(30).fill('unauthorized')).asking).toMatchObject({
      verdict: null,
      refusals: 0,
      calls: 30,
    });
  });

  it.each([
    ['refused', 'partner_refused'],
    ['invalid', 'partner_answer_invalid'],
  ] as const)(
    'becomes a dead letter if the partner answers %s twice, whatever happened in between',
    (outcome, reason) => {
      expect(after([outcome]).asking.verdict).toBeNull();
      expect(after([outcome, 'unavailable', 'throttled']).asking.verdict).toBeNull();
      expect(after([outcome, 'unavailable', outcome]).asking.verdict).toMatchObject({ kind: 'parked', reason });
    },
  );

  it('is first asked alone if it was part of a shared call, and only that result counts', () => {
    const { asking, nextAt } = afterFailure(fresh, failed('refused', { sharedBy: 3 }), 0);
    expect(asking).toMatchObject({ alone: true, refusals: 0, verdict: null });
    expect(nextAt).toBe(1000);
    expect(askAlone(fresh, failed('refused').evidence)).toMatchObject({ alone: true, calls: 1, verdict: null });
  });

  it('gets the final result if the partner answers every part of a shared call the same', () => {
    const call = { ...failed('refused', { sharedBy: 3 }), toEverybody: true };
    const once = afterFailure(fresh, call, 0).asking;
    expect(once).toMatchObject({ alone: false, refusals: 1, verdict: null });
    expect(afterFailure(once, call, 0).asking.verdict).toMatchObject({ kind: 'parked', reason: 'partner_refused' });
  });

  it('becomes a dead letter after its deadline, with the last evidence', () => {
    expect(afterDeadline(fresh).verdict).toMatchObject({
      reason: 'not_after_passed',
      detail: 'no call was possible in time',
    });
    const told = afterDeadline(after(['unavailable']).asking).verdict;
    expect(told).toMatchObject({ detail: 'not answered in time; last: no' });
  });
});

it('a question to a partner keeps the newest evidence, counts every call, and always has a next time', () => {
  const outcomes = fc.constantFrom<Outcome>('unavailable', 'throttled', 'unauthorized', 'invalid', 'refused');
  fc.assert(
    fc.property(
      fc.array(outcomes, { maxLength: 40 }),
      fc.double({ min: 0, max: 0.999, noNaN: true }),
      (all, chance) => {
        let asking = fresh;
        for (const outcome of all) {
          if (asking.verdict) break;
          const next = afterFailure(asking, failed(outcome), chance);
          expect(next.asking.calls).toBe(asking.calls + 1);
          if (!next.asking.verdict) expect(next.nextAt).toBeGreaterThan(1000);
          asking = next.asking;
        }
        expect(asking.evidence.length).toBe(Math.min(8, asking.calls));
      },
    ),
  );
});
