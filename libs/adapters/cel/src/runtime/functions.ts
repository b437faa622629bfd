import { valueOf } from './access.ts';
import { mapSize } from './comparison.ts';
import * as conversions from './conversions.ts';
import type { Meter } from './meter.ts';
import { TOO_COMPLEX } from './meter.ts';
import {
  CALL,
  CLOCK_IN_GAP,
  CLOCK_IN_ZONE,
  CLOCK_UTC,
  NO_SUCH_ZONE,
  OBJECT_KEY,
  LOCAL_TIME,
  TEXT_READ,
} from './prices.ts';
import * as text from './text.ts';
import { CLOCK_READERS, isZone, localTime, readLocalText, SPAN_READERS, wallClock } from './time.ts';
import type { Value } from './values.ts';
import {
  CelError,
  isList,
  isMap,
  NONE,
  noOverload,
  Optional,
  Span,
  Timestamp,
  typeNameOf,
  TypeValue,
} from './values.ts';

/**
 * A function that an expression may call. Arguments that are errors are answered with the first error; text is paid for
 * by its length, since every function may have to read it.
 */
export type Callable = (meter: Meter, ...args: readonly Value[]) => Value;

type Kind = 'text' | 'whole' | 'list' | 'any';
const ACCEPTS: Readonly<Record<Kind, (value: Value) => boolean>> = {
  text: (value) => typeof value === 'string',
  /** Whole doubles too: the numbers of events are doubles. */
  whole: (value) => typeof value === 'bigint' || Number.isInteger(value),
  list: isList,
  any: () => true,
};

/** A function by name and number of arguments, the receiver of a method being the first. */
export type Signature = { readonly name: string; readonly method: boolean; readonly args: number };
type Declared = Signature & { readonly run: Callable };

const declare = (name: string, method: boolean, kinds: readonly Kind[], run: Callable): Declared => ({
  name,
  method,
  args: kinds.length,
  run: (meter, ...args) => {
    let steps = CALL;
    for (const arg of args) {
      if (arg instanceof CelError) return arg;
      if (typeof arg === 'string') steps += arg.length * TEXT_READ;
    }
    if (!meter.spend(steps)) return TOO_COMPLEX;
    for (const [at, kind] of kinds.entries()) if (!ACCEPTS[kind](args[at] ?? null)) return noOverload(name, ...args);
    return run(meter, ...args);
  },
});

const method = (name: string, kinds: readonly Kind[], run: Callable): Declared => declare(name, true, kinds, run);
const plain = (name: string, run: Callable): Declared => declare(name, false, ['any'], run);

type TextCall = (meter: Meter, on: string, ...args: readonly string[]) => Value;
const textual = (name: string, args: 0 | 1, run: TextCall): Declared =>
  method(name, args === 0 ? ['text'] : ['text', 'text'], (meter, on, ...rest) =>
    run(meter, on as string, ...rest.map(String)),
  );

const number = (value: Value | undefined, absent: number): number => (value === undefined ? absent : Number(value));

const size: Callable = (meter, of = null) => {
  if (typeof of === 'string') return text.textSize(meter, of);
  if (isList(of) || of instanceof Uint8Array) return BigInt(of.length);
  if (!isMap(of)) return noOverload('size', of);
  const entries = mapSize(of);
  return meter.spend(entries * OBJECT_KEY) ? BigInt(entries) : TOO_COMPLEX;
};

const text1: readonly Kind[] = ['text', 'text'];
const find =
  (search: typeof text.lastIndexOf): Callable =>
  (meter, on, sought, from) =>
    search(meter, on as string, sought as string, from === undefined ? undefined : Number(from));
const indexOf = find((meter, on, sought, from) => text.indexOf(meter, on, sought, from ?? 0));
const lastIndexOf = find(text.lastIndexOf);
const split: Callable = (meter, on, by, limit) => text.split(meter, on as string, by as string, number(limit, -1));
const replace: Callable = (meter, on, sought, by, limit) =>
  text.replace(meter, on as string, sought as string, by as string, number(limit, -1));
const substring: Callable = (meter, on, from, to) =>
  text.substring(meter, on as string, Number(from), to === undefined ? undefined : Number(to));
const join: Callable = (meter, list, by = '') => text.join(meter, list as readonly Value[], by as string);

/** `at.getHours()`, `at.getHours("Europe/Berlin")`; durations know the four that make sense for them. */
const clock = (name: string): readonly Declared[] => {
  const read: Callable = (meter, on = null, zone) => {
    const reader = CLOCK_READERS[name];
    if (on instanceof Timestamp && reader) {
      if (!meter.spend(zone === undefined ? CLOCK_UTC : CLOCK_IN_ZONE)) return TOO_COMPLEX;
      const shown = wallClock(on, zone as string | undefined);
      if (!(shown instanceof CelError)) return BigInt(reader(shown));
      return meter.spend(NO_SUCH_ZONE) ? shown : TOO_COMPLEX;
    }
    const part = zone === undefined ? SPAN_READERS[name] : undefined;
    return on instanceof Span && part ? part(on.nanos) : noOverload(name, on);
  };
  return [method(name, ['any'], read), method(name, ['any', 'text'], read)];
};

const readLocalTime: Callable = (meter, written, zone) => {
  const read = readLocalText(written as string);
  if (read instanceof CelError) return read;
  if (!meter.spend(LOCAL_TIME)) return TOO_COMPLEX;
  if (!isZone(zone as string)) {
    return meter.spend(NO_SUCH_ZONE) ? (wallClock(new Timestamp(0n), zone as string) as CelError) : TOO_COMPLEX;
  }
  const { at, isInGap } = localTime(read, zone as string);
  return isInGap && !meter.spend(CLOCK_IN_GAP) ? TOO_COMPLEX : at;
};

const DECLARED: readonly Declared[] = [
  plain('size', size),
  method('size', ['any'], size),
  plain('int', conversions.toInt),
  plain('uint', conversions.toUint),
  plain('double', conversions.toDouble),
  plain('bool', conversions.toBool),
  plain('string', conversions.toText),
  plain('bytes', conversions.toBytes),
  plain('timestamp', conversions.toTimestamp),
  plain('duration', conversions.toDuration),
  declare('localTime', false, ['text', 'text'], readLocalTime),
  plain('dyn', (_meter, value = null) => value),
  plain('type', (_meter, value = null) => new TypeValue(typeNameOf(value))),
  textual('contains', 1, (meter, on, sought = '') => text.contains(meter, on, sought)),
  textual('startsWith', 1, (_meter, on, start = '') => on.startsWith(start)),
  textual('endsWith', 1, (_meter, on, end = '') => on.endsWith(end)),
  textual('lowerAscii', 0, text.lowerAscii),
  textual('upperAscii', 0, text.upperAscii),
  textual('trim', 0, text.trim),
  method('charAt', ['text', 'whole'], (meter, on, at) => text.charAt(meter, on as string, Number(at))),
  method('indexOf', text1, indexOf),
  method('indexOf', [...text1, 'whole'], indexOf),
  method('lastIndexOf', text1, lastIndexOf),
  method('lastIndexOf', [...text1, 'whole'], lastIndexOf),
  method('split', text1, split),
  method('split', [...text1, 'whole'], split),
  method('replace', [...text1, 'text'], replace),
  method('replace', [...text1, 'text', 'whole'], replace),
  method('substring', ['text', 'whole'], substring),
  method('substring', ['text', 'whole', 'whole'], substring),
  method('join', ['list'], join),
  method('join', ['list', 'text'], join),
  ...Object.keys(CLOCK_READERS).flatMap(clock),
  method('value', ['any'], valueOf),
  method('hasValue', ['any'], (_meter, of = null) =>
    of instanceof Optional ? of.held !== undefined : noOverload('hasValue', of),
  ),
  {
    name: 'optional.of',
    method: false,
    args: 1,
    run: declare('optional.of', false, ['any'], (_meter, of = null) => new Optional(of)).run,
  },
  { name: 'optional.none', method: false, args: 0, run: () => NONE },
];

const keyOf = (signature: Signature): string => `${signature.method ? '.' : ''}${signature.name}/${signature.args}`;
const BY_KEY: ReadonlyMap<string, Callable> = new Map(DECLARED.map((each) => [keyOf(each), each.run]));

/** The function of this name with so many arguments (the receiver counts), if expressions may call it. */
export const findFunction = (signature: Signature): Callable | undefined => BY_KEY.get(keyOf(signature));

/** Macros and calls with a lazy or literal argument: the compiler knows them by name. */
const SPECIAL_METHODS = ['matches', 'all', 'exists', 'exists_one', 'filter', 'map', 'orValue', 'or'];

export const FUNCTION_NAMES: readonly string[] = [
  ...new Set([...DECLARED.filter((each) => !each.method).map(({ name }) => name), 'has', 'cel.bind']),
];
export const METHOD_NAMES: readonly string[] = [
  ...new Set([...DECLARED.filter((each) => each.method).map(({ name }) => name), ...SPECIAL_METHODS]),
];

/** How many arguments a known name takes, for the message where the number is wrong. */
export const arities = (name: string, asMethod: boolean): readonly number[] =>
  DECLARED.filter((each) => each.name === name && each.method === asMethod).map(({ args }) => args);

export const TYPE_NAMES: ReadonlySet<string> = new Set([
  'bool',
  'int',
  'uint',
  'double',
  'string',
  'bytes',
  'list',
  'map',
  'null_type',
  'type',
]);
