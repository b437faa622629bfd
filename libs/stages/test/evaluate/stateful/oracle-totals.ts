import { ZONE, type TotalSpec } from './cases.ts';

/** A sample that a total of a rule has counted. */
export type TotalSample = {
  /** Place of the total in its rule. */
  readonly total: number;
  readonly definition: string;
  readonly at: number;
  readonly value: number | string;
};

type Value = Pick<TotalSample, 'at' | 'value'>;

export const definitionText = (spec: TotalSpec): string => JSON.stringify(spec);

const calendar = new Intl.DateTimeFormat('en-CA', {
  timeZone: ZONE,
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
});

/** The day, the Monday of the week, or the month that the calendar of the workspace shows. */
function periodText(at: number, period: 'day' | 'week' | 'month'): string {
  const day = calendar.format(at);
  if (period === 'day') return day;
  if (period === 'month') return day.slice(0, 7);
  const date = new Date(`${day}T00:00:00Z`);
  date.setUTCDate(date.getUTCDate() - ((date.getUTCDay() + 6) % 7));
  return date.toISOString().slice(0, 10);
}

/** Returns the samples that a total still has: those of its newest window and the grace, or of its two newest periods. */
function keptSamples<Sample extends Value>(
  { within }: TotalSpec,
  samples: readonly Sample[],
  grace: number | null,
): readonly Sample[] {
  if (typeof within === 'number') {
    const newest = Math.max(...samples.map(({ at }) => at));
    return samples.filter(({ at }) => at > newest - (within + (grace ?? 0)) * 1000);
  }
  const periods = [...new Set(samples.map(({ at }) => periodText(at, within)))].toSorted().slice(-2);
  return samples.filter(({ at }) => periods.includes(periodText(at, within)));
}

/** Returns true if a sample changes a total. A value that a period has already does not. */
export function countSample(spec: TotalSpec, samples: readonly Value[], sample: Value, grace: number | null): boolean {
  if (!keptSamples(spec, [...samples, sample], grace).includes(sample)) return false;
  if (spec.kind !== 'distinct' || typeof spec.within === 'number') return true;
  const { within } = spec;
  const period = periodText(sample.at, within);
  return !samples.some(({ at, value }) => value === sample.value && periodText(at, within) === period);
}

/** Returns what a naive list counts at a time. */
export function valueOfTotal(spec: TotalSpec, samples: readonly Value[], time: number, grace: number | null): number {
  const { kind, within } = spec;
  const counted = keptSamples(spec, samples, grace).filter(({ at }) =>
    typeof within === 'number'
      ? at > time - within * 1000 && at <= time
      : periodText(at, within) === periodText(time, within),
  );
  if (kind === 'count') return counted.length;
  if (kind === 'distinct') return new Set(counted.map(({ value }) => value)).size;
  return counted.reduce((sum, { value }) => sum + Number(value), 0);
}
