import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { gapsOf, legsOf, placeOf, type Leg } from '../src/screens/deliveries/journey-legs.ts';

const START = Date.parse('2026-11-23T10:00:00.000Z');
const at = (after: number): string => new Date(START + after).toISOString();
const HOUR = 3_600_000;

describe('the journey of a delivery', () => {
  it('shows waits with their reason, attempts with their duration, and the end', () => {
    const legs = legsOf(
      {
        created_at: at(14),
        history: [
          { at: at(14), state: 'WAITING', state_words: 'Waiting', reason: 'new' },
          { at: at(20), state: 'WAITING', state_words: 'Waiting', reason: 'held_by_quiet_hours' },
          { at: at(2 * HOUR), state: 'SENDING', state_words: 'Sending', reason: 'new' },
          { at: at(2 * HOUR + 1_800), state: 'WAITING', state_words: 'Waiting', reason: 'transient' },
          { at: at(2 * HOUR + 61_800), state: 'SENDING', state_words: 'Sending', reason: 'transient' },
          { at: at(2 * HOUR + 62_700), state: 'SENT', state_words: 'Sent', reason: 'accepted' },
        ],
        attempts: [
          { started_at: at(2 * HOUR), ended_at: at(2 * HOUR + 1_800), verdict: 'transient', code: '451' },
          { started_at: at(2 * HOUR + 61_800), ended_at: at(2 * HOUR + 62_700), verdict: 'accepted', code: '250' },
        ],
      },
      at(0),
      START + 3 * HOUR,
    );
    expect(legs.map(({ name, tone, words, from, to }) => `${name} ${tone} ${to - from} ${words}`.trim())).toEqual([
      'Event none 0',
      'Decided none 0',
      'Quiet hours held 7199980',
      'Attempt 1 bad 1800 451',
      'Waiting wait 60000',
      'Attempt 2 good 900 250',
      'Sent good 0',
    ]);
  });

  it('lets an open wait go until now, and knows no answer as a doubt', () => {
    const made = {
      created_at: at(0),
      history: [{ at: at(0), state: 'WAITING', state_words: 'Waiting', reason: 'delayed' }],
      attempts: [],
    };
    expect(legsOf(made, null, START + HOUR).at(-1)).toMatchObject({ name: 'Delay', to: START + HOUR });
    const tried = {
      created_at: at(0),
      history: [],
      attempts: [{ started_at: at(1), ended_at: null, verdict: null, code: null }],
    };
    expect(legsOf(tried, null, START).at(-1)).toMatchObject({
      name: 'Attempt 1',
      tone: 'doubt',
      from: START + 1,
      to: START + 1,
    });
  });

  const legsAt = (moments: readonly number[]): readonly Leg[] =>
    moments.map((moment) => ({ name: 'x', from: moment, to: moment, tone: 'none', words: '' }));
  const moments = fc.uniqueArray(fc.integer({ min: 0, max: 30 * 86_400_000 }), { minLength: 2, maxLength: 40 });

  it('fills the width, in the order of time, and draws no longer gap narrower than a shorter one', () => {
    fc.assert(
      fc.property(moments, (some) => {
        const gaps = gapsOf(legsAt(some));
        expect(gaps.reduce((sum, { width }) => sum + width, 0)).toBeCloseTo(1, 9);
        for (const one of gaps) {
          expect(one.width).toBeGreaterThanOrEqual(Math.min(0.06, 1 / gaps.length) - 1e-9);
          for (const other of gaps) {
            if (one.to - one.from > other.to - other.from) expect(one.width).toBeGreaterThanOrEqual(other.width - 1e-9);
          }
        }
        const places = some.toSorted((a, b) => a - b).map((moment) => placeOf(moment, gaps));
        expect(places).toEqual(places.toSorted((a, b) => a - b));
      }),
    );
  });

  it('folds a gap that is longer than a quarter of the whole time', () => {
    const gaps = gapsOf(legsAt([0, 5, 14, 2 * HOUR, 2 * HOUR + 1_000]));
    expect(gaps.map(({ isFolded }) => isFolded)).toEqual([false, false, true, false]);
  });
});
