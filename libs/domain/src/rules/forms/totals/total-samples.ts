import { CALENDAR_PERIODS, MAX_SAMPLES } from '@carillon/shapes/values';
import { durationOr, isJsonObject, type Json, type JsonObject } from '@carillon/kernel';
import type { RuleBody } from '../../../configuration/resources.ts';
import { stepsOf } from '../../../events/json-reader-path.ts';
import type { Expression } from '../../expression.ts';
import { allOf, withFields, type Requirement } from '../../requirement.ts';
import type { TotalKind } from './kept-total.ts';

type TotalBody = NonNullable<RuleBody['totals']>[string];

const readTotals = ({ when = '', totals = {} }: RuleBody): readonly TotalBody[] =>
  Object.entries(totals).flatMap(([name, total]) => (new RegExp(`\\btotals\\.${name}\\b`).test(when) ? [total] : []));

/** Returns where the value of a total stands in the event. Null: the value is computed. */
const fieldOf = (source = ''): readonly string[] | null =>
  /^event(\.\w+)+$/.test(source.trim()) ? stepsOf(source.trim()) : null;

/** As many events as a total keeps, if `when` reads one: `match`, and others with their own value of what `distinct` counts. */
export function sampleOfTotals(body: RuleBody, match: JsonObject): readonly JsonObject[] {
  const read = readTotals(body);
  if (read.length === 0) return [match];
  const varied = read.flatMap(({ distinct }) => {
    const steps = fieldOf(distinct);
    return steps === null ? [] : [steps];
  });
  return Array.from({ length: MAX_SAMPLES }, (_, index) =>
    varied.reduce((event, steps) => withValue(event, steps, index), match),
  );
}

/** Returns the event with another value of the field for each index. 0: its own. */
function withValue(event: JsonObject, steps: readonly string[], index: number): JsonObject {
  const [first, ...rest] = steps;
  if (first === undefined || !Object.hasOwn(event, first)) return event;
  const value = event[first];
  if (rest.length === 0) return { ...event, [first]: otherValue(value, index) };
  return isJsonObject(value) ? { ...event, [first]: withValue(value, rest, index) } : event;
}

function otherValue(value: Json | undefined, index: number): Json {
  if (index === 0 || value === undefined) return value ?? null;
  if (typeof value === 'number') return value + index;
  return typeof value === 'string' ? `${value}-${index + 1}` : value;
}

/** The window in which the events have to come: the shortest one of the totals that `when` reads. */
export function windowWords(body: RuleBody): string {
  const windows = readTotals(body).map(({ within }) => within);
  const calendar = CALENDAR_PERIODS.find((period) => windows.includes(`calendar ${period}`));
  const [shortest] = windows
    .filter((within) => !within.startsWith('calendar'))
    .toSorted((a, b) => durationOr(a, 0) - durationOr(b, 0));
  return [
    ...(shortest === undefined ? [] : [`within ${shortest}`]),
    ...(calendar === undefined ? [] : [`in one calendar ${calendar}`]),
  ].join(' and ');
}

type Sampled = {
  readonly name: string;
  readonly kind: TotalKind;
  readonly of: Expression;
  readonly where: Expression | null;
};

/**
 * Returns what an event has to meet so that `when` becomes true: its own conditions and those of the totals that it reads. The sum of a
 * single event is its number, so that a comparison with a sum asks this of the number.
 */
export function requirementOf(totals: readonly Sampled[], when: Expression): Requirement {
  const names = new Set(when.fields.flatMap(({ root, steps }) => (root === 'totals' ? [steps[0]] : [])));
  const read = totals.filter(({ name }) => names.has(name));
  const numbers = new Map(
    read.flatMap(({ name, kind, of }) => {
      const steps = kind === 'sum' ? fieldOf(of.source) : null;
      return steps === null ? [] : [[name, steps] as const];
    }),
  );
  const conditions = read.flatMap(({ kind, of, where }) => [
    ...(kind === 'count' ? [of.requirement()] : []),
    ...(where === null ? [] : [where.requirement()]),
  ]);
  const ofSums = withFields(when.requirement(), (field) => {
    const steps = field.root === 'totals' ? numbers.get(String(field.steps[0])) : undefined;
    return steps === undefined ? field : { root: 'event', steps };
  });
  return allOf([ofSums, ...conditions]);
}
