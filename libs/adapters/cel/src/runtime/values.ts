import type { JsonObject } from '@carillon/kernel';

/**
 * Values while an expression runs. JSON is taken as it is: numbers are CEL doubles, bigints CEL ints, objects are maps.
 * What JSON lacks is an instance of one of the classes here, so that no JSON object can pass for one of them.
 */
export type Value = null | boolean | number | bigint | string | Uint8Array | readonly Value[] | JsonObject | CelValue;

export abstract class CelValue {
  /** Keeps the classes apart from JSON objects for the type checker. */
  declare protected readonly brand: 'cel';
}

/** An error in the CEL sense. It is a value, not a throw: `&&` and `||` absorb it, and a missing field costs little. */
export class CelError extends CelValue {
  readonly text: string;
  constructor(text: string) {
    super();
    this.text = text;
  }
}

/** An unsigned 64-bit integer; only from literals such as `1u` and `uint(…)`. */
export class Uint extends CelValue {
  readonly whole: bigint;
  constructor(whole: bigint) {
    super();
    this.whole = whole;
  }
}

/** Nanoseconds since 1970 UTC, from year 1 to 9999. */
export class Timestamp extends CelValue {
  readonly nanos: bigint;
  constructor(nanos: bigint) {
    super();
    this.nanos = nanos;
  }
}

export class Span extends CelValue {
  readonly nanos: bigint;
  constructor(nanos: bigint) {
    super();
    this.nanos = nanos;
  }
}

export class Optional extends CelValue {
  readonly held: Value | undefined;
  constructor(held: Value | undefined) {
    super();
    this.held = held;
  }
}
export const NONE = new Optional(undefined);

export class TypeValue extends CelValue {
  readonly typeName: string;
  constructor(typeName: string) {
    super();
    this.typeName = typeName;
  }
}

/** Ints and uints of equal value are one key, as CEL says. */
export type MapKey = string | bigint | boolean;
export type MapEntry = { readonly key: Value; readonly value: Value };

/** A map that the expression itself made; maps of events stay JSON objects. */
export class CelMap extends CelValue {
  readonly pairs: ReadonlyMap<MapKey, MapEntry>;
  constructor(pairs: ReadonlyMap<MapKey, MapEntry>) {
    super();
    this.pairs = pairs;
  }
}

export const MAX_INT = 9_223_372_036_854_775_807n;
export const MIN_INT = -9_223_372_036_854_775_808n;
export const MAX_UINT = 18_446_744_073_709_551_615n;

export const isList = (value: Value): value is readonly Value[] => Array.isArray(value);

export const isObject = (value: Value): value is JsonObject =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  !(value instanceof CelValue) &&
  !(value instanceof Uint8Array);

export const isMap = (value: Value): value is JsonObject | CelMap => value instanceof CelMap || isObject(value);

/** The name of a value's CEL type, as `type(x)` gives it. */
export function typeNameOf(value: Value): string {
  if (typeof value === 'string') return 'string';
  if (typeof value === 'number') return 'double';
  if (typeof value === 'bigint') return 'int';
  return typeof value === 'boolean' ? 'bool' : objectTypeName(value);
}

function objectTypeName(value: Exclude<Value, string | number | bigint | boolean>): string {
  if (value === null) return 'null_type';
  if (isList(value)) return 'list';
  if (value instanceof Uint8Array) return 'bytes';
  if (value instanceof Uint) return 'uint';
  if (value instanceof Timestamp) return 'google.protobuf.Timestamp';
  if (value instanceof Span) return 'google.protobuf.Duration';
  if (value instanceof TypeValue) return 'type';
  if (value instanceof Optional) return 'optional_type';
  if (value instanceof CelError) return 'error';
  return 'map';
}

/** Type name for error messages, without protobuf prefixes. */
export const shownType = (value: Value): string => typeNameOf(value).replace('google.protobuf.', '').toLowerCase();

const described = (value: Value): string => (value === null ? 'null' : shownType(value));

const NUMBERS: ReadonlySet<string> = new Set(['int', 'uint', 'double']);

/** Returns a hint for adding text and a number, the most common cause of this error. */
function joining(operation: string, types: readonly string[]): string {
  const isJoined = operation === '+' && types.includes('string') && types.some((type) => NUMBERS.has(type));
  return isJoined ? '; text and a number are joined as texts: write string(…) around the number' : '';
}

export function noOverload(operation: string, ...args: readonly Value[]): CelError {
  const types = args.map(described);
  const message = `no such overload: ${operation} with ${types.join(', ')}${joining(operation, types)}`;
  return args.find((arg) => arg instanceof CelError) ?? new CelError(message);
}

/**
 * Names that mean something on an object of JavaScript, though no event says them. Generated code reads every other
 * name plainly, which is fast; these go through an own-property check.
 */
export const BUILTIN_NAMES: ReadonlySet<string> = new Set(
  [
    Object.prototype,
    Array.prototype,
    Uint8Array.prototype,
    Object.getPrototypeOf(Uint8Array.prototype) as object,
    Function.prototype,
    [],
    ...[
      new CelError(''),
      new Uint(0n),
      new Timestamp(0n),
      new Span(0n),
      NONE,
      new TypeValue(''),
      new CelMap(new Map()),
    ].flatMap((sample) => [sample, Object.getPrototypeOf(sample) as object]),
    CelValue.prototype,
  ].flatMap((object) => Object.getOwnPropertyNames(object)),
);
