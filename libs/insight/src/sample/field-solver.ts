import { jsonTypeOf } from '@carillon/domain/events';
import type { FieldRequirement } from '@carillon/domain/rules';
import type { Json } from '@carillon/kernel';

/** `any`: the default value is fine. Null: no value was found. */
export type FieldSolution =
  | { readonly kind: 'any' }
  | { readonly kind: 'absent' }
  | { readonly kind: 'value'; readonly value: Json }
  | null;

/**
 * Finds a value that meets all requirements of a field. Candidates derive from the literals: equal to them, next to
 * them and between them. Prefers `usual` if it is valid.
 */
export function solveField(requirements: readonly FieldRequirement[], usual: Json): FieldSolution {
  const absent = requirements.filter((one) => one.kind === 'present' && !one.holds);
  if (absent.length > 0) return absent.length === requirements.length ? { kind: 'absent' } : null;
  const telling = requirements.filter((one) => one.kind !== 'present' && one.kind !== 'differs');
  const differs = requirements.some((one) => one.kind === 'differs');
  if (telling.length === 0) return differs ? { kind: 'value', value: otherThan(usual) } : { kind: 'any' };
  const free = !differs && telling.every((one) => one.kind !== 'order' && !one.holds);
  if (free && telling.every((one) => meets(usual, one))) return { kind: 'any' };
  for (const value of candidates(telling, usual)) {
    if (differs && same(value, usual)) continue;
    if (telling.every((one) => meets(value, one))) return { kind: 'value', value };
  }
  return null;
}

/** A value that stood there before. */
function otherThan(value: Json): Json {
  if (typeof value === 'boolean') return !value;
  if (typeof value === 'number') return value - 1;
  return value === 'before' ? 'earlier' : 'before';
}

type Numeric = number | bigint;
const isNumeric = (value: Json): value is Numeric => typeof value === 'number' || typeof value === 'bigint';

// oxlint-disable-next-line eqeqeq -- == compares a bigint with a number exactly
const same = (a: Json, b: Json): boolean => (isNumeric(a) && isNumeric(b) ? a == b : a === b);

const METHODS = { startsWith: 'startsWith', endsWith: 'endsWith', contains: 'includes' } as const;

/** Returns what CEL would decide. The rule itself checks the finished sample. */
function meets(value: Json, one: FieldRequirement): boolean {
  switch (one.kind) {
    case 'one_of':
      return one.values.some((other) => same(value, other)) === one.holds;
    case 'order':
      return inOrder(value, one.is, one.than);
    case 'text':
      return typeof value === 'string' && value[METHODS[one.is]](one.text) === one.holds;
    case 'includes':
      return Array.isArray(value) && value.some((item: Json) => same(item, one.value)) === one.holds;
    case 'present':
      return one.holds;
    case 'differs':
      return true;
  }
}

function inOrder(value: Json, is: '<' | '<=' | '>' | '>=', than: Numeric | string): boolean {
  if (typeof value === 'string' ? typeof than !== 'string' : typeof than === 'string' || !isNumeric(value))
    return false;
  const [a, b] = [value as Numeric, than as Numeric];
  if (is === '<') return a < b;
  if (is === '<=') return a <= b;
  return is === '>' ? a > b : a >= b;
}

function candidates(requirements: readonly FieldRequirement[], usual: Json): readonly Json[] {
  const named = requirements.flatMap((one): readonly Json[] => (one.kind === 'one_of' ? one.values : []));
  const wanted = requirements.flatMap((one) => (one.kind === 'one_of' && one.holds ? one.values : []));
  const bounds = requirements.flatMap((one) => (one.kind === 'order' ? [one.than] : []));
  const known = [...named, ...bounds];
  const included = requirements.flatMap((one) => (one.kind === 'includes' && one.holds ? [one.value] : []));
  return [
    ...wanted,
    ...numbers(known.filter(isNumeric)),
    ...texts(
      requirements,
      [...known, usual].filter((value) => typeof value === 'string'),
    ),
    usual,
    included,
    true,
    false,
    0,
    '',
    {},
  ];
}

/** On the bounds, next to them, and as many points between each two as there are values to stay clear of. */
function numbers(bounds: readonly Numeric[]): readonly Numeric[] {
  const sorted = [...bounds].toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  const near = sorted.flatMap((bound): Numeric[] =>
    typeof bound === 'bigint'
      ? Array.from({ length: bounds.length + 1 }, (_, i) => [bound + BigInt(i + 1), bound - BigInt(i + 1)]).flat()
      : [
          ...Array.from({ length: bounds.length + 1 }, (_, i) => [bound + i + 1, bound - i - 1]).flat(),
          bound * 2,
          bound / 2,
        ],
  );
  const between = sorted.slice(1).flatMap((high, at) => {
    const [low, top] = [Number(sorted[at]), Number(high)];
    const parts = bounds.length + 2;
    return Array.from({ length: parts - 1 }, (_, i) => low + ((top - low) * (i + 1)) / parts);
  });
  const all = [...near, ...sorted, ...between].filter((value) => typeof value === 'bigint' || Number.isFinite(value));
  const whole = (value: Numeric): boolean => typeof value === 'bigint' || Number.isInteger(value);
  return [...all.filter(whole), ...all.filter((value) => !whole(value))].filter(inRange);
}

const inRange = (value: Numeric): boolean =>
  typeof value === 'number' ? jsonTypeOf(value) === 'number' : value >= -(2n ** 63n) && value < 2n ** 63n;

/**
 * Returns texts with the required beginning, content and end, each also slightly longer, so that it differs from
 * forbidden values.
 */
function texts(requirements: readonly FieldRequirement[], known: readonly string[]): readonly string[] {
  const asked = (is: string): readonly string[] =>
    requirements.flatMap((one) => (one.kind === 'text' && one.is === is && one.holds ? [one.text] : []));
  const longest = (all: readonly string[]): string => all.toSorted((a, b) => b.length - a.length)[0] ?? '';
  const [start, end] = [longest(asked('startsWith')), longest(asked('endsWith'))];
  const middle = asked('contains').join('');
  const whole = [start, `${start}${middle}`, `${start}${middle}${end}`, overlap(start, end)].filter(
    (text) => text !== '',
  );
  const lengthened = Array.from({ length: known.length + requirements.length + 1 }, (_, count) =>
    'x'.repeat(count),
  ).flatMap((more) => [
    `${start}${middle}${more}${end}`,
    `${start}${more}${middle}${end}`,
    `${start}${more}${middle}${more}${end}`,
  ]);
  const beside = known.flatMap((text) => [text, `${text}a`, text.slice(0, -1), `${start}${text}${end}`]);
  return [...whole, ...(whole.length > 0 ? lengthened : []), ...beside, ...lengthened];
}

/** `abc` and `cd` as `abcd`. */
function overlap(start: string, end: string): string {
  for (let length = Math.min(start.length, end.length); length > 0; length -= 1) {
    if (start.endsWith(end.slice(0, length))) return start + end.slice(length);
  }
  return start + end;
}
