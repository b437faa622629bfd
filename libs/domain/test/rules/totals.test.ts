import fc from 'fast-check';
import { runToCompletion, stringifyJson, type Duration, type Instant, type JsonObject } from '@carillon/kernel';
import type { RuleFormKeys } from '@carillon/shapes';
import { givenEvent, givenRule } from '@carillon/testing/given';
import { describe, expect, it } from 'vitest';
import {
  bindingsOf,
  bytesOfKept,
  decisionWords,
  editWordsOf,
  emptyMemory,
  formatMemory,
  MAX_MEMORY_BYTES,
  memoryAfterEvent,
  memoryWords,
  readMemory,
  ruleMemoryOf,
  startTurn,
  stepAtEvent,
  StepBudget,
  type CompiledRule,
  type EntityMemory,
  type RuleStep,
} from '../../src/rules/index.ts';

type Totals = NonNullable<RuleFormKeys['totals']>;
const bytesOf = (text: string): number => new TextEncoder().encode(text).length;

/** One entity, and one rule whose first total is `n`. The zone of the workspace may change between events. */
function openEntity(
  totals: Totals,
  given: { readonly zone?: string; readonly grace?: Duration; readonly when?: string } = {},
) {
  const { zone = 'Europe/Berlin', grace = null, when = 'false' } = given;
  const counting = givenRule({ unique_id: 'event_id' }, { when, totals });
  let timeZone = zone;
  let memory: EntityMemory = emptyMemory({ workspace: 'shop', stream: 'shop/orders', key: 'A-1' });
  let offset = 0;
  const take = (at: Instant, body: JsonObject): RuleStep => {
    const rule: CompiledRule = { ...counting, placed: { ...counting.placed, timeZone, grace } };
    const event = {
      ...givenEvent(body, `evt_${String(offset).padStart(20, '0')}`, offset),
      key: 'A-1',
      appendedAt: at,
      time: at,
    };
    offset += 1;
    const turn = startTurn(memory, event, at);
    if (rule.memory === null || turn === null) throw new Error('the event does not count');
    const budget = new StepBudget();
    const step = runToCompletion(
      stepAtEvent({ ...rule, memory: rule.memory }, turn, bindingsOf(event), budget, () => 'trg_1'),
    );
    const after = memoryAfterEvent(turn, new Map([[rule.placed, step]]), [{ placed: rule.placed, rule }]);
    memory = after === memory ? memory : readMemory(formatMemory(after), after.offset);
    return step;
  };
  return {
    take,
    /** Returns the total `n` after an event. */
    n: (at: string | Instant, body: JsonObject = {}) =>
      take(typeof at === 'string' ? Date.parse(at) : at, body).totals?.['n'],
    moveTo: (next: string) => void (timeZone = next),
    memory: () => memory,
    kept: () => ruleMemoryOf(memory, counting.placed),
    words: () => memory.decisions.flatMap(decisionWords),
  };
}

const each = { count: 'true' } as const;

describe('a total over a calendar day, week or month', () => {
  it('has a day of 23 hours when clocks go forward', () => {
    const entity = openEntity({ n: { ...each, within: 'calendar day' } });
    expect(entity.n('2026-03-29T00:00+01:00')).toBe(1);
    expect(entity.n('2026-03-29T03:00+02:00')).toBe(2);
    expect(entity.n('2026-03-29T23:59:59.999+02:00')).toBe(3);
    expect(entity.n('2026-03-30T00:00+02:00')).toBe(1);
  });

  it('has a day of 25 hours when clocks go back, and counts both hours with the same name', () => {
    const entity = openEntity({ n: { ...each, within: 'calendar day' } });
    expect(entity.n('2026-10-25T00:00+02:00')).toBe(1);
    expect(entity.n('2026-10-25T02:30+02:00')).toBe(2);
    expect(entity.n('2026-10-25T02:30+01:00')).toBe(3);
    expect(entity.n('2026-10-25T23:59+01:00')).toBe(4);
    expect(entity.n('2026-10-26T00:00+01:00')).toBe(1);
  });

  it('counts the leap day in February', () => {
    const entity = openEntity({ n: { ...each, within: 'calendar month' } });
    expect(entity.n('2028-02-01T00:00+01:00')).toBe(1);
    expect(entity.n('2028-02-29T23:59+01:00')).toBe(2);
    expect(entity.n('2028-03-01T00:00+01:00')).toBe(1);
    const daily = openEntity({ n: { ...each, within: 'calendar day' } });
    expect([daily.n('2028-02-29T10:00+01:00'), daily.n('2028-02-29T11:00+01:00')]).toEqual([1, 2]);
    expect(daily.n('2028-03-01T10:00+01:00')).toBe(1);
  });

  it('begins its week on Monday, also across a new year', () => {
    const entity = openEntity({ n: { ...each, within: 'calendar week' } });
    expect(entity.n('2026-12-28T00:00+01:00')).toBe(1);
    expect(entity.n('2027-01-03T23:59+01:00')).toBe(2);
    expect(entity.n('2027-01-04T00:00+01:00')).toBe(1);
  });

  it('continues in the current day of the new time zone if the workspace changes its zone', () => {
    const entity = openEntity({ n: { ...each, within: 'calendar day' } }, { zone: 'Pacific/Auckland' });
    expect(entity.n('2026-06-10T22:00+12:00')).toBe(1);
    expect(entity.n('2026-06-11T01:00+12:00')).toBe(1);
    // The same instant is still the 10th there.
    entity.moveTo('Pacific/Honolulu');
    expect(entity.n('2026-06-11T02:00+12:00')).toBe(2);
    expect(entity.n('2026-06-11T09:00-10:00')).toBe(2);
  });

  it('counts a late event in the event’s own day on a stream with a time path', () => {
    const entity = openEntity({ n: { ...each, within: 'calendar day' } }, { grace: 10_000 });
    expect(entity.n('2026-06-10T23:59:58+02:00')).toBe(1);
    expect(entity.n('2026-06-11T00:00:01+02:00')).toBe(1);
    expect(entity.n('2026-06-10T23:59:59+02:00')).toBe(2);
    expect(entity.n('2026-06-11T00:00:02+02:00')).toBe(2);
    // Two newer days are kept.
    expect(entity.n('2026-06-09T12:00:00+02:00')).toBe(0);
  });

  it('stays exact beyond 500 events, and keeps 500 different values', () => {
    const entity = openEntity({
      n: { ...each, within: 'calendar day' },
      spent: { sum: 'event.amount', within: 'calendar day' },
      values: { distinct: 'event.id', within: 'calendar day' },
    });
    let last: RuleStep['totals'] = null;
    for (let at = 0; at < 510; at += 1)
      last = entity.take(Date.UTC(2026, 5, 10, 8) + at, { amount: 0.5, id: at }).totals;
    expect(last).toEqual({ n: 510, spent: 255, values: '500+' });
  });
});

describe('a total over a rolling duration', () => {
  it('leaves out an event that is exactly as old as its window', () => {
    const entity = openEntity({ n: { ...each, within: '1m' } });
    expect([entity.n(0), entity.n(59_999), entity.n(60_000)]).toEqual([1, 2, 2]);
  });

  it('keeps the newest 500 events, reports that it is incomplete, and still counts down', () => {
    const entity = openEntity({ n: { ...each, within: '10m' } }, { when: 'totals.n >= 500' });
    const outcomes: string[] = [];
    for (let at = 0; at < 499; at += 1) outcomes.push(entity.take(at * 1_000, {}).outcome.kind);
    expect(new Set(outcomes)).toEqual(new Set(['not_fired']));
    expect(entity.take(499_000, {})).toMatchObject({ totals: { n: '500+' }, outcome: { kind: 'fired' } });
    expect(entity.take(500_000, {})).toMatchObject({ totals: { n: '500+' }, outcome: { kind: 'fired' } });
    expect(entity.words().at(-1)).toBe('totals.n is 500+');
    // Events of the first 200 seconds have left the window.
    expect(entity.n(800_000)).toBe(301);
  });

  it('counts a late event on a stream with a time path, also for the late event’s own window', () => {
    const entity = openEntity({ n: { ...each, within: '1m' } }, { grace: 10_000 });
    expect([entity.n(1_000), entity.n(60_500), entity.n(66_000)]).toEqual([1, 2, 2]);
    expect(entity.n(60_800)).toBe(3);
    expect(entity.n(67_000)).toBe(4);
  });
});

describe('an event with unusual values in a total', () => {
  const all: Totals = {
    n: { sum: 'event.v', within: '1h' },
    values: { distinct: 'event.v', within: '1h' },
    checked: { count: 'event.v > 3', within: '1h' },
  };

  it.each([
    ['12', 0, 1, 'totals.n: the value is no number, so the event is left out'],
    [null, 0, 0, 'totals.n: the value is no number, so the event is left out'],
    [[1], 0, 0, 'totals.values: the value is a list or an object, so the event is left out'],
    [{ a: 1 }, 0, 0, 'totals.values: the value is a list or an object, so the event is left out'],
    ['x'.repeat(256), 0, 0, 'totals.values: the value has more than 255 characters, so the event is left out'],
  ])('is left out with a recorded reason if the value is %j', (v, n, values, why) => {
    const entity = openEntity(all);
    const step = entity.take(0, { v });
    expect(step.totals).toEqual({ n, values, checked: 0 });
    expect(entity.words().join(' | ')).toContain(why);
    // The next event counts as if nothing had been.
    expect(entity.take(1, { v: 4 }).totals).toEqual({ n: 4, values: values + 1, checked: 1 });
  });

  it('is left out if it lacks the field, and fails neither the rule nor its wait', () => {
    const entity = openEntity({ n: { sum: 'event.v', within: '1h' } }, { when: 'event.fires == true' });
    expect(entity.take(0, { fires: true }).outcome.kind).toBe('fired');
    expect(entity.take(1, { fires: true, v: 2 })).toMatchObject({ totals: { n: 2 }, outcome: { kind: 'fired' } });
  });

  it('keeps a sum within the numbers of JSON', () => {
    const entity = openEntity({ n: { sum: 'event.v', within: '1h' }, m: { sum: 'event.v', within: 'calendar day' } });
    entity.take(0, { v: 1.7e308 });
    expect(entity.take(1, { v: 1.7e308 }).totals).toEqual({ n: Number.MAX_VALUE, m: Number.MAX_VALUE });
  });

  it.each([9_007_199_254_740_993n, 9e18, -9e18])(
    'counts %s as a number, also after the state is stored and read again',
    (v) => {
      const within = 'calendar day';
      const sums: Totals = { n: { sum: 'event.v', within }, rolling: { sum: 'event.v', within: '1h' } };
      const values: Totals = { values: { distinct: 'event.v', within }, newest: { distinct: 'event.v', within: '1h' } };
      const entity = openEntity({ ...sums, ...values }, { when: `totals.n ${v > 0 ? '>' : '<'} 0` });
      for (const at of [0, 1, 2]) {
        const sum = Number(v) * (at + 1);
        const step = entity.take(at, { v });
        expect(step).toMatchObject({
          totals: { n: sum, rolling: sum, values: 1, newest: 1 },
          outcome: { kind: 'fired' },
        });
      }
    },
  );

  it('counts a text and a number that look the same as different values', () => {
    const entity = openEntity({ n: { distinct: 'event.v', within: '1h' } });
    expect([1, '1', true, 1].map((v, at) => entity.n(at, { v }))).toEqual([1, 2, 3, 3]);
  });

  it('is not lost for a total with a name such as constructor', () => {
    const entity = openEntity({ constructor: { ...each, within: '1h' }, n: { ...each, within: '1h' } });
    expect(entity.take(0, {}).totals).toEqual({ constructor: 1, n: 1 });
  });
});

describe('the stored rule state of an entity with totals', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 120 }),
    fc.constant('"'.repeat(255)),
    fc.constant('\u0001'.repeat(255)),
  );

  const totals = Object.fromEntries(
    Array.from({ length: 16 }, (_, at) => [
      `${'t'.repeat(30)}${at}`,
      at % 2 === 0 ? { distinct: 'event.v', within: '92d' } : { sum: 'event.n', within: '92d' },
    ]),
  );

  it('estimates its bytes from above, and stays below 128 KiB', () => {
    const number = fc.double({ noNaN: true, min: -1e15, max: 1e15 });
    const events = fc.array(fc.tuple(text, number), { minLength: 25, maxLength: 25 });
    fc.assert(
      fc.property(events, (given) => {
        const entity = openEntity(totals);
        for (const [at, [v, n]] of given.entries()) {
          entity.take(Date.UTC(2026, 5, 10) + at, { v: `${at}${v}`.slice(0, 255), n });
        }
        const { kept = {} } = entity.kept() ?? {};
        expect(bytesOfKept(kept)).toBeGreaterThanOrEqual(bytesOf(stringifyJson(kept)));
        expect(bytesOf(formatMemory(entity.memory()))).toBeLessThanOrEqual(MAX_MEMORY_BYTES);
      }),
      { numRuns: 4, endOnFailure: true },
    );
  });

  it('leaves out an event that does not fit, with a reason, and the rule still fires', () => {
    const entity = openEntity(totals, { when: 'event.fires == true' });
    // A control character takes six bytes, so that seven events fill the memory.
    const long = (at: number) => ({ v: `${at}${'\u0001'.repeat(254)}`, n: 1, fires: at === 8 });
    for (let at = 0; at < 7; at += 1) expect(entity.take(at, long(at)).outcome.kind, String(at)).toBe('not_fired');
    expect(entity.take(7, long(7)).outcome).toMatchObject({ kind: 'failed', reason: 'too_large_to_keep' });
    expect(entity.take(8, long(8)).outcome.kind).toBe('fired');
    expect(entity.words().at(-1)).toContain('too_large_to_keep');
    expect(entity.take(9, { v: 'short', n: 1, fires: false }).outcome.kind).toBe('not_fired');
  });

  it('lists in words what it keeps', () => {
    const entity = openEntity({
      n: { ...each, within: '1h' },
      spent: { sum: 'event.v', within: 'calendar day' },
    });
    entity.take(Date.parse('2026-06-10T23:00+02:00'), { v: 5 });
    entity.take(Date.parse('2026-06-11T01:00+02:00'), { v: 7 });
    expect(memoryWords(entity.kept() ?? { since: 0 })).toEqual([
      'totals.n keeps 1 event',
      'totals.spent is 5 in the period from 2026-06-10, and 7 in the period from 2026-06-11',
    ]);
  });

  it('loses a total whose definition is edited, and this is announced before', () => {
    const rule = (of: Totals) => ({ ...givenRule({}, { totals: of }).placed.body });
    const before = rule({ n: { ...each, within: '1h' }, m: { ...each, within: '1h' } });
    const after = rule({ n: { ...each, within: '2h' }, m: { ...each, within: '1h' }, more: { ...each, within: '1h' } });
    expect(editWordsOf(before, after)).toEqual({ waits: [], kept: ['n starts at 0', 'more starts at 0'] });
    expect(editWordsOf(before, before)).toEqual({ waits: [], kept: [] });
  });
});
