import type { RuleBody } from '@carillon/domain/configuration';
import { runToCompletion } from '@carillon/kernel';
import { givenEvent, givenIds, givenRule, MORNING } from '@carillon/testing/given';
import { describe, expect, it } from 'vitest';
import { rehearse, type RehearsedStep } from '../../src/index.ts';

const MINUTE = 60_000;
const minuteOf = (at: number | null): number | null => (at === null ? null : (at - MORNING) / MINUTE);

/** Runs a rule over events of orders, by minutes since the morning. */
function run(
  rule: Partial<RuleBody>,
  events: readonly (readonly [minute: number, type: string, order?: string])[],
  until: number,
): readonly RehearsedStep[] {
  const compiled = givenRule({ unique_id: 'event_id' }, { when: 'event.type == "placed"', ...rule });
  const given = events.map(([minute, type, order = 'A-1'], at) => ({
    ...givenEvent({ type, email: 'ada@example.com' }, `evt_${String(at).padStart(20, '0')}`),
    key: order,
    appendedAt: MORNING + minute * MINUTE,
    time: MORNING + minute * MINUTE,
  }));
  const entry = { ok: true, placed: compiled.placed, rule: compiled } as const;
  return runToCompletion(rehearse({ entry, events: given, until: MORNING + until * MINUTE }, givenIds.derive));
}
const shown = (steps: readonly RehearsedStep[]) =>
  steps.map(({ kind, at, outcome, waitsUntil }) => [kind, minuteOf(at), outcome.kind, minuteOf(waitsUntil)]);

describe('a rehearsal', () => {
  const unpaid = { after: '60m', unless: 'event.type == "paid"' } as const;

  it('shows each event and each deadline, with what the entity waits for', () => {
    const steps = run(
      unpaid,
      [
        [0, 'placed'],
        [20, 'viewed'],
        [30, 'placed', 'A-2'],
        [40, 'paid', 'A-2'],
      ],
      60,
    );
    expect(shown(steps)).toEqual([
      ['event', 0, 'not_fired', 60],
      ['event', 20, 'not_fired', 60],
      ['event', 30, 'not_fired', 90],
      ['event', 40, 'not_fired', null],
      ['deadline', 60, 'fired', null],
    ]);
    expect(steps.map(({ decisions }) => decisions)).toEqual([
      ['waits until 2026-01-31T09:00:00.000Z'],
      [],
      ['waits until 2026-01-31T09:30:00.000Z'],
      ['wait cancelled: `unless` is true'],
      ['fired by its deadline 2026-01-31T09:00:00.000Z'],
    ]);
  });

  it('lets an event at the deadline come first', () => {
    expect(
      shown(
        run(
          unpaid,
          [
            [0, 'placed'],
            [60, 'paid'],
          ],
          120,
        ),
      ).at(-1),
    ).toEqual(['event', 60, 'not_fired', null]);
  });

  it('counts from the own time of events on a stream with a time path, and passes deadlines of its end with their grace', () => {
    const compiled = givenRule({ unique_id: 'event_id' }, { when: 'event.type == "placed"', ...unpaid });
    const placed = { ...compiled.placed, grace: 10_000 };
    const events = (
      [
        ['A-1', 0, 5],
        ['A-2', 0, -10],
      ] as const
    ).map(([key, minute, time], at) => ({
      ...givenEvent({ type: 'placed', email: 'ada@example.com' }, `evt_${String(at).padStart(20, '0')}`),
      key,
      appendedAt: MORNING + minute * MINUTE,
      time: MORNING + time * MINUTE,
    }));
    const entry = { ok: true, placed, rule: { ...compiled, placed } } as const;
    const runUntil = (minute: number) =>
      shown(runToCompletion(rehearse({ entry, events, until: MORNING + minute * MINUTE }, givenIds.derive))).slice(2);
    expect(runUntil(49)).toEqual([]);
    expect(runUntil(50)).toEqual([['deadline', 50, 'fired', null]]);
    expect(runUntil(65)).toEqual([
      ['deadline', 50, 'fired', null],
      ['deadline', 65, 'fired', null],
    ]);
  });

  it('passes no deadline after its end', () => {
    expect(shown(run(unpaid, [[0, 'placed']], 59))).toEqual([['event', 0, 'not_fired', 60]]);
  });

  it('runs a rule that is disabled, and one without state', () => {
    expect(
      shown(
        run(
          { enabled: false },
          [
            [0, 'placed'],
            [1, 'paid'],
          ],
          1,
        ),
      ),
    ).toEqual([
      ['event', 0, 'fired', null],
      ['event', 1, 'not_fired', null],
    ]);
  });

  it('explains when by its parts', () => {
    const [step] = run({ cooldown: '1h' }, [[0, 'placed']], 0);
    expect(step?.explained[0]).toMatchObject({ source: 'event.type == "placed"', result: { ok: true, value: true } });
  });
});
