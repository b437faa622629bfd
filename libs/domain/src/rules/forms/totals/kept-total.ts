import { stringifyJson, type Duration, type Instant } from '@carillon/kernel';
import { MAX_SAMPLES } from '@carillon/shapes/values';
import { calendarPeriodAt, type CalendarPeriod } from '../../../cadence/local-time.ts';

/** A value that a sum adds, or that is counted once by `distinct`. A count uses `true`. */
export type SampleValue = number | string | boolean;
/** A value as a state holds it. A number beyond 2^53 is read from its text as a bigint. */
export type StoredValue = SampleValue | bigint;
export type TotalKind = 'count' | 'sum' | 'distinct';
export type TotalWindow = { readonly rolling: Duration } | { readonly calendar: CalendarPeriod };

/** What a total counts, and over which time. */
export type TotalRule = {
  readonly kind: TotalKind;
  readonly window: TotalWindow;
  /** Fingerprint of the definition. A total starts at 0 if its definition changed. */
  readonly definition: string;
};

/** Newest samples of a rolling window, in order of time. */
export type KeptSamples = {
  readonly definition: string;
  readonly at: readonly Instant[];
  /** The value of each sample. Left out by a count. */
  readonly values?: readonly StoredValue[];
  /** Upper bound of the bytes of the whole as JSON. */
  readonly bytes: number;
};

/** The newest periods of the calendar that had a sample, in order of time. */
export type KeptPeriods = {
  readonly definition: string;
  readonly periods: readonly KeptPeriod[];
  /** Upper bound of the bytes of the whole as JSON. */
  readonly bytes: number;
};

export type KeptPeriod = {
  /** First day of the period, as the number 20260131. */
  readonly first: number;
  /** The count or the sum. */
  readonly value?: number | bigint;
  /** The different values, in order of their first sample. */
  readonly values?: readonly StoredValue[];
};

export type KeptTotal = KeptSamples | KeptPeriods;

/** What says when a sample counts. */
export type TotalClock = {
  /** Zone of the workspace, whose calendar has the periods. */
  readonly timeZone: string;
  /** How late an event may come on a stream with a `time` path. Null: times of append count. */
  readonly grace: Duration | null;
};

/** Value of a total. `isFull`: it has reached the samples or values that are kept, so that there may be more. */
export type TotalValue = { readonly value: number; readonly isFull: boolean };

/** A sample of an event. `time`: the time that counts for totals. */
export type Sample = { readonly time: Instant; readonly value: SampleValue };

/**
 * Periods of the calendar that a total keeps: the current one, and the one before. An event that comes late, a deadline that is
 * due after midnight, and a zone that moves west ask for the earlier one.
 */
const MAX_PERIODS = 2;
/** Bytes of a total without its samples: name, definition and keys. */
const BYTES_OF_TOTAL = 200;
/** A time in milliseconds and a comma. */
const BYTES_OF_TIME = 18;

const bytesOfValue = (value: StoredValue): number =>
  typeof value === 'string' ? new TextEncoder().encode(stringifyJson(value)).length + 1 : String(value).length + 1;

const bytesOfValues = (values: readonly StoredValue[]): number =>
  values.reduce<number>((sum, value) => sum + bytesOfValue(value), 0);

const readValue = (value: StoredValue): SampleValue => (typeof value === 'bigint' ? Number(value) : value);

/** A sum stays a number of JSON, however large its samples are. */
const bounded = (sum: number): number => Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, sum));

/** Returns the total with one more sample. The same total if the sample changes nothing. */
export const addSample = (
  rule: TotalRule,
  kept: KeptTotal | undefined,
  sample: Sample,
  { timeZone, grace }: TotalClock,
): KeptTotal | undefined =>
  'rolling' in rule.window
    ? addToSamples(rule, kept as KeptSamples | undefined, sample, rule.window.rolling + (grace ?? 0))
    : addToPeriods(
        rule,
        kept as KeptPeriods | undefined,
        sample,
        calendarPeriodAt(timeZone, sample.time, rule.window.calendar),
      );

/** Returns the value of a total at a time. */
export function valueAt(
  { kind, window }: TotalRule,
  kept: KeptTotal | undefined,
  time: Instant,
  { timeZone }: Pick<TotalClock, 'timeZone'>,
): TotalValue {
  if (kept === undefined) return { value: 0, isFull: false };
  if ('rolling' in window) return valueOfSamples(kind, kept as KeptSamples, time - window.rolling, time);
  const first = calendarPeriodAt(timeZone, time, window.calendar);
  const { value, values = [] } = (kept as KeptPeriods).periods.find((period) => period.first === first) ?? {};
  if (value !== undefined) return { value: Number(value), isFull: false };
  return { value: values.length, isFull: values.length >= MAX_SAMPLES };
}

/** Drops samples that are older than the newest one by `keptFor`: the window, and the grace of a stream with a `time` path. */
function addToSamples(
  { kind, definition }: TotalRule,
  kept: KeptSamples | undefined,
  { time, value }: Sample,
  keptFor: Duration,
): KeptSamples | undefined {
  const before = kept?.at ?? [];
  const newest = Math.max(time, before.at(-1) ?? time);
  if (time <= newest - keptFor) return kept;
  const index = before.findLastIndex((other) => other <= time) + 1;
  const at = before.toSpliced(index, 0, time);
  const values = kind === 'count' ? [] : (kept?.values ?? []).toSpliced(index, 0, value);
  const expired = at.findIndex((other) => other > newest - keptFor);
  const first = Math.max(expired, at.length - MAX_SAMPLES);
  // A sample that is older than all samples of a full total.
  if (first > index) return kept;
  const ofValues = kind === 'count' ? 0 : bytesOfValue(value) - bytesOfValues(values.slice(0, first));
  return {
    definition,
    at: at.slice(first),
    ...(kind !== 'count' && { values: values.slice(first) }),
    bytes: (kept?.bytes ?? BYTES_OF_TOTAL) + (at.length - first - before.length) * BYTES_OF_TIME + ofValues,
  };
}

function valueOfSamples(kind: TotalKind, { at, values = [] }: KeptSamples, after: Instant, until: Instant): TotalValue {
  const first = at.findIndex((time) => time > after);
  const from = first < 0 ? at.length : first;
  const end = at.findLastIndex((time) => time <= until) + 1;
  const isFull = from === 0 && at.length >= MAX_SAMPLES;
  const within = values.slice(from, Math.max(from, end));
  switch (kind) {
    case 'count':
      return { value: Math.max(0, end - from), isFull };
    case 'sum':
      return { value: within.reduce<number>((sum, value) => bounded(sum + Number(value)), 0), isFull };
    case 'distinct':
      return { value: new Set(within.map(readValue)).size, isFull };
  }
}

/** Leaves out a sample of a period before the kept ones. */
function addToPeriods(
  { kind, definition }: TotalRule,
  kept: KeptPeriods | undefined,
  { value }: Sample,
  first: number,
): KeptPeriods | undefined {
  const before = kept?.periods ?? [];
  const current = before.find((period) => period.first === first);
  const next = kind === 'distinct' ? withValue(current, value) : addedTo(current, kind === 'count' ? 1 : Number(value));
  if (next === null) return kept;
  const periods = [...before.filter((period) => period !== current), { first, ...next }]
    .toSorted((a, b) => a.first - b.first)
    .slice(-MAX_PERIODS);
  if (periods.every((period) => before.includes(period))) return kept;
  const bytes = periods.reduce((sum, { values = [] }) => sum + bytesOfValues(values), BYTES_OF_TOTAL);
  return { definition, periods, bytes };
}

const addedTo = (current: KeptPeriod | undefined, number: number) => ({
  value: bounded(Number(current?.value ?? 0) + number),
});

/** Null: the value is there already, or the period is full. */
function withValue(current: KeptPeriod | undefined, value: SampleValue): Pick<KeptPeriod, 'values'> | null {
  const { values = [] } = current ?? {};
  return values.some((known) => readValue(known) === value) || values.length >= MAX_SAMPLES
    ? null
    : { values: [...values, value] };
}
