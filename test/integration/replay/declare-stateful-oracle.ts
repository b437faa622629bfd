import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Side } from '@carillon/domain/runs';
import {
  DAY,
  randomCase,
  START,
  type CaseRecord,
  type RuleSpec,
} from '../../../libs/stages/test/evaluate/stateful/cases.ts';
import { firingsOf, readsPrevious, type Firing } from '../../../libs/stages/test/evaluate/stateful/oracle.ts';
import { compareRules, logOf, shopOf } from './stateful-comparison.ts';

/** A pair of rule sets over one partition, and the range that is compared. */
type Pair = {
  readonly grace: number | null;
  readonly records: readonly CaseRecord[];
  readonly rules: { readonly [Name in Side]: readonly RuleSpec[] };
  /** Index of the first record of the range. */
  readonly first: number;
  readonly from: number;
  readonly to: number;
  readonly pageRecords: number;
  readonly dies: readonly number[];
};

const anyPair: fc.Arbitrary<Pair> = fc
  .record({
    old: randomCase,
    edited: randomCase,
    keeps: fc.array(fc.boolean(), { minLength: 3, maxLength: 3 }),
    cut: fc.oneof({ weight: 2, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(8) }),
    end: fc.constantFrom(0, 1, 999, 2_500, 60_000),
    pageRecords: fc.integer({ min: 1, max: 6 }),
    dies: fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 2 }),
  })
  .map(({ old, edited, keeps, cut, end, pageRecords, dies }) => {
    let at = START;
    // Append times that step back make the start of a range uncertain. Rules over such logs have an oracle of their own.
    const all = old.records.map((record, index) => {
      at = Math.max(at, record.at);
      const id = `evt_${String(index).padStart(26, '0')}`;
      if (record.holds === 'event') return { ...record, time: record.time + at - record.at, at, id };
      return record.holds === 'forget' ? { ...record, at } : { at, holds: 'tick' as const };
    });
    const records = all.slice(0, -1);
    const first = Math.min(cut, records.length - 1);
    const from = first === 0 ? START : (records[first]?.at ?? START);
    const rules = {
      before: old.rules,
      after: edited.rules.map((rule, index) => (keeps[index] ? (old.rules[index] ?? rule) : rule)),
    };
    // Records of the time of `from` belong to the range.
    const start = first === 0 ? 0 : records.findIndex((record) => record.at >= from);
    return {
      grace: old.grace,
      records,
      rules,
      first: start,
      from,
      to: (records.at(-1)?.at ?? at) + 1 + end,
      pageRecords,
      dies,
    };
  });

const HOUR = 3_600_000;
/** A clock may be set back in a window. */
const CALENDAR = { day: DAY + HOUR, week: 7 * DAY + HOUR, month: 31 * DAY + HOUR };

const spanOf = ({ wait, cooldown, totals }: RuleSpec): number => {
  const waits = wait === null ? 0 : wait.by === 'at' ? 366 * DAY : wait.seconds * 1_000;
  const windows = totals.map(({ within }) => (typeof within === 'number' ? within * 1_000 : CALENDAR[within]));
  return Math.max(0, ...windows) + waits + (typeof cooldown === 'number' ? cooldown * 1_000 : 0);
};

/** Returns the events whose entity may have a state of before the first record that is read. */
function coldEvents({ grace, records, rules, first, from }: Pair): ReadonlySet<number> {
  const all = [...rules.before, ...rules.after];
  // An event may be a minute ahead of the log.
  const span = Math.max(...all.map(spanOf)) + (grace === null ? 0 : 60_000 + grace * 1_000);
  const asksBefore = all.some((rule) => readsPrevious(rule) || rule.cooldown === 'until_false');
  const since = from - 2 * span;
  const read = Math.min(
    first,
    records.findIndex(({ at }) => at >= since),
  );
  const cold = new Set<number>();
  if (read === 0) return cold;
  for (const [index, record] of records.entries()) {
    if (record.holds !== 'event' || index < read) continue;
    const own = records.slice(read, index + 1).filter((each) => 'entity' in each && each.entity === record.entity);
    const gaps = own.map(({ at }, place) => at - (own[place - 1]?.at ?? since));
    const isKnown = gaps.some((gap) => gap > span) || own.some(({ holds }) => holds === 'forget');
    const isOld = grace !== null && record.time <= since + span;
    if (!isKnown || isOld || (asksBefore && own.length === 1)) cold.add(index);
  }
  return cold;
}

type Row = { readonly difference: string; readonly rule: string; readonly event: number; readonly at: number };

/** Returns the firings of one side that count, as a fold over all records gives them, by rule and event. */
function wantedOf(
  { grace, records, rules, first, from, to }: Pair,
  side: Side,
): ReadonlyMap<string, Firing & { at: number }> {
  const whole: readonly CaseRecord[] = [...records, { at: to, holds: 'tick' }];
  const wanted = new Map<string, Firing & { at: number }>();
  for (const firing of firingsOf({ grace, rules: rules[side], records: whole })) {
    const at = firing.deadline ?? records[firing.event]?.at ?? 0;
    // A wait that began before the range ends before it if it is due by then.
    const isDueIn = firing.deadline !== null && firing.deadline + (grace ?? 0) * 1_000 >= from;
    if ((firing.event >= first || isDueIn) && at < to) wanted.set(`r${firing.rule} ${firing.event}`, { ...firing, at });
  }
  return wanted;
}

function rowsOf(pair: Pair): readonly Row[] {
  const [before, after] = [wantedOf(pair, 'before'), wantedOf(pair, 'after')];
  const contentOf = ({ deadline, totals, was, rule }: Firing, side: Side): string => {
    const due = pair.rules[side][rule]?.wait ? deadline : 'at once';
    return JSON.stringify([due, was === undefined ? 'not read' : was, totals[0] ?? 'not counted']);
  };
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((key) => {
    const [old, edited] = [before.get(key), after.get(key)];
    const shown = edited ?? old;
    if (!shown) return [];
    const isSame = old && edited && contentOf(old, 'before') === contentOf(edited, 'after');
    if (isSame) return [];
    const difference = old && edited ? 'changed' : edited ? 'added' : 'removed';
    return [{ difference, rule: `n.r${shown.rule}`, event: shown.event, at: shown.at }];
  });
}

const textOf = ({ difference, rule, event, at }: Row): string => `${difference} ${rule} ${event} ${at}`;

/** Declares the oracle of a comparison of rules with state, with `numRuns` random pairs of rule sets. */
export function declareStatefulOracle(numRuns: number): void {
  describe('A comparison of rules with state', () => {
    it('has the rows that a fold over the whole log gives, and one checksum after crashes', async () => {
      let known = 0;
      await fc.assert(
        fc.asyncProperty(anyPair, async (pair) => {
          const comparison = {
            ...pair,
            records: logOf(pair.records, pair.grace),
            before: shopOf(pair.rules.before, pair.grace),
            after: shopOf(pair.rules.after, pair.grace),
          };
          const { slots, checksum, counts } = await compareRules(comparison);
          const cold = coldEvents(pair);
          const rows = slots
            .filter(({ difference, isCold }) => difference !== 'unchanged' && !isCold)
            .map(({ difference, rule, position, at }) => {
              const event = Number(position.split('@')[1]);
              return textOf({ difference, rule, event, at });
            });
          const expected = rowsOf(pair).filter(({ event }) => !cold.has(event));
          expect(rows.toSorted()).toEqual(expected.map(textOf).toSorted());
          known += expected.length;
          if (pair.dies.length === 0) return;
          expect(await compareRules(comparison, pair.dies)).toEqual({ slots, checksum, counts });
        }),
        { numRuns },
      );
      expect(known).toBeGreaterThan(numRuns / 10);
    });
  });
}
