import { durationOr, err, ok, stringifyJson, type Json } from '@carillon/kernel';
import { CALENDAR_PERIODS } from '@carillon/shapes/values';
import type { RuleBody } from '../../../configuration/resources.ts';
import type { Expression, ExpressionPlace } from '../../expression.ts';
import type { Arrival, CompiledForm, Moment, Prepared, RuleFault, RuleForm } from '../rule-form.ts';
import {
  addSample,
  valueAt,
  type KeptTotal,
  type SampleValue,
  type TotalKind,
  type TotalRule,
  type TotalValue,
  type TotalWindow,
} from './kept-total.ts';
import type { ShownTotals } from './shown-totals.ts';
import { requirementOf, sampleOfTotals, windowWords } from './total-samples.ts';

/** What totals keep of an entity, by their names. */
export type KeptTotals = Readonly<Record<string, KeptTotal>>;

const NAME = 'totals';
const PLACES: Readonly<Record<TotalKind, ExpressionPlace>> = {
  count: 'total_condition',
  sum: 'total_sum',
  distinct: 'total_distinct',
};
export const TOTAL_KINDS = ['count', 'sum', 'distinct'] as const;

type TotalBody = NonNullable<RuleBody['totals']>[string];

/** Counts events of the entity, adds up their numbers or tells their values apart, over a window of time. */
export const TOTALS: RuleForm<KeptTotals> = {
  name: NAME,
  keys: ['totals'],
  compile({ totals }, language) {
    if (totals === undefined || Object.keys(totals).length === 0) return ok(null);
    const faults: RuleFault[] = [];
    const read = (key: string, source: string, place: ExpressionPlace): Expression | null => {
      const compiled = language.compile(source, place);
      if (compiled.ok) return compiled.value;
      faults.push(...compiled.error.map((fault) => ({ field: `totals.${key}`, ...fault })));
      return null;
    };
    const compiled: CompiledTotal[] = [];
    for (const [name, body] of Object.entries(totals)) {
      const kind = TOTAL_KINDS.find((each) => body[each] !== undefined);
      if (kind === undefined) continue;
      const of = read(`${name}.${kind}`, body[kind] ?? '', PLACES[kind]);
      const where = body.where === undefined ? null : read(`${name}.where`, body.where, 'total_condition');
      if (of) compiled.push({ name, kind, window: windowOf(body.within), definition: definitionOf(body), of, where });
    }
    return faults.length > 0 ? err(faults) : ok(compiledTotals(compiled));
  },
  words: () => [],
  keptWords: (kept) => Object.entries(kept).map(([name, total]) => keptWord(name, total)),
  bytes: (kept) => Object.values(kept).reduce((sum, { bytes }) => sum + bytes, 0),
  gates: [],
  gateOf: () => 'condition',
  sentence: (body, events) => (events === 1 ? null : `when ${events} such events come ${windowWords(body)}`),
  editWords: ({ totals: before = {} }, { totals: after = {} }) => ({
    waits: [],
    kept: Object.entries(after).flatMap(([name, body]) => {
      const known = Object.hasOwn(before, name) ? before[name] : undefined;
      return known !== undefined && definitionOf(known) === definitionOf(body) ? [] : [`${name} starts at 0`];
    }),
  }),
  sampleEvents: sampleOfTotals,
};

const keptWord = (name: string, total: KeptTotal): string => {
  if ('at' in total) return `totals.${name} keeps ${total.at.length === 1 ? '1 event' : `${total.at.length} events`}`;
  const periods = total.periods.map(
    ({ first, value, values = [] }) => `${value ?? values.length} in the period from ${dayWord(first)}`,
  );
  return `totals.${name} is ${periods.join(', and ')}`;
};

/** The number 20260131 as 2026-01-31. */
const dayWord = (day: number): string => String(day).replace(/^(\d+)(\d\d)(\d\d)$/, '$1-$2-$3');

type CompiledTotal = TotalRule & {
  readonly name: string;
  /** The condition of a count, the number of a sum, or the value of which different ones are counted. */
  readonly of: Expression;
  readonly where: Expression | null;
};

function windowOf(within: string): TotalWindow {
  const calendar = CALENDAR_PERIODS.find((period) => within === `calendar ${period}`);
  return calendar ? { calendar } : { rolling: durationOr(within, 0) };
}

/** Two hashes of 32 bits (FNV-1a), so that a state does not repeat the definition. */
function definitionOf({ count = '', sum = '', distinct = '', where = '', within }: TotalBody): string {
  const text = stringifyJson([count, sum, distinct, where, within]);
  const hash = (seed: number): string => {
    let bits = seed;
    for (let index = 0; index < text.length; index += 1) bits = Math.imul(bits ^ text.charCodeAt(index), 0x01000193);
    return (bits >>> 0).toString(36);
  };
  return `${hash(0x811c9dc5)}.${hash(0x1000193)}`;
}

const compiledTotals = (totals: readonly CompiledTotal[]): CompiledForm<KeptTotals> => ({
  name: NAME,
  expressions: totals.flatMap(({ name, kind, of, where }) => [
    [`totals.${name}.${kind}`, of] as const,
    ...(where === null ? [] : [[`totals.${name}.where`, where] as const]),
  ]),
  prepare: (kept, moment) => prepareTotals(totals, kept, moment),
  step: (kept, _occasion, effect) => ({ kept, effect }),
  sampleRequirement: (when) => requirementOf(totals, when),
});

/** Takes the sample of an event for each total, and returns the values including it. */
function prepareTotals(
  totals: readonly CompiledTotal[],
  before: KeptTotals | undefined,
  moment: Moment,
): Prepared<KeptTotals> {
  const after: Record<string, KeptTotal> = {};
  const shown: Record<string, number | string> = {};
  const errors: string[] = [];
  let isTooLarge = false;
  for (const total of totals) {
    const own = keptOf(before, total);
    const taken = moment.kind === 'event' ? takeSample(total, own, moment) : { kept: own };
    if (taken.error !== undefined) errors.push(`totals.${total.name}: ${taken.error}`);
    isTooLarge ||= taken.isTooLarge === true;
    if (taken.kept) after[total.name] = taken.kept;
    shown[total.name] = shownValue(valueAt(total, taken.kept, moment.at, moment));
  }
  return {
    kept: sameTotals(before, after) ? before : Object.keys(after).length === 0 ? undefined : after,
    totals: shown,
    error: errors.length === 0 ? null : errors.join('; '),
    isTooLarge,
  };
}

/** A total whose definition has changed starts at 0. */
function keptOf(kept: KeptTotals | undefined, { name, definition }: CompiledTotal): KeptTotal | undefined {
  const own = kept !== undefined && Object.hasOwn(kept, name) ? kept[name] : undefined;
  return own?.definition === definition ? own : undefined;
}

const shownValue = ({ value, isFull }: TotalValue): ShownTotals[string] => (isFull ? `${value}+` : value);

function sameTotals(before: KeptTotals | undefined, after: KeptTotals): boolean {
  const names = Object.keys(after);
  if (names.length !== Object.keys(before ?? {}).length) return false;
  return names.every((name) => before !== undefined && Object.hasOwn(before, name) && before[name] === after[name]);
}

type Taken = { readonly kept: KeptTotal | undefined; readonly error?: string; readonly isTooLarge?: boolean };

function takeSample(total: CompiledTotal, kept: KeptTotal | undefined, arrival: Arrival): Taken {
  const read = readSample(total, arrival);
  if (read === null) return { kept };
  if (typeof read === 'string') return { kept, error: read };
  const after = addSample(total, kept, { time: arrival.at, value: read.value }, arrival);
  if (after === kept || arrival.room.take((after?.bytes ?? 0) - (kept?.bytes ?? 0))) return { kept: after };
  return { kept, error: 'too_large_to_keep: the totals and events of the entity need too much room', isTooLarge: true };
}

/** Characters of a text that `distinct` tells apart. */
const MAX_VALUE = 255;

/** Returns the value of an event for a total. Null: the total does not look at the event. Text: why the event is left out. */
function readSample(
  { kind, of, where }: CompiledTotal,
  arrival: Arrival,
): { readonly value: SampleValue } | null | string {
  const wanted = where === null ? true : readCondition(where, arrival);
  if (wanted !== true) return wanted || null;
  if (kind === 'count') {
    const counts = readCondition(of, arrival);
    return counts === true ? { value: true } : counts || null;
  }
  const result = arrival.evaluate(of);
  if (!result.ok) return `${result.error}, so the event is left out`;
  return kind === 'sum' ? numberOf(result.value) : distinctOf(result.value);
}

function readCondition(condition: Expression, arrival: Arrival): boolean | string {
  const result = arrival.evaluate(condition);
  if (!result.ok) return result.error;
  return typeof result.value === 'boolean' ? result.value : 'the condition is not true or false';
}

function numberOf(value: Json): { readonly value: number } | string {
  const number = typeof value === 'bigint' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number)
    ? { value: number }
    : 'the value is no number, so the event is left out';
}

function distinctOf(value: Json): { readonly value: SampleValue } | null | string {
  if (value === null) return null;
  if (typeof value === 'bigint') return { value: Number(value) };
  if (typeof value === 'number' || typeof value === 'boolean') return { value };
  if (typeof value !== 'string') return 'the value is a list or an object, so the event is left out';
  return value.length <= MAX_VALUE
    ? { value }
    : `the value has more than ${MAX_VALUE} characters, so the event is left out`;
}
