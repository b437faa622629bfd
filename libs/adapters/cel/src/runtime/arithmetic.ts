import type { Meter } from './meter.ts';
import { TOO_COMPLEX } from './meter.ts';
import { addTime, subtractTime } from './time.ts';
import type { Value } from './values.ts';
import { CelError, isList, MAX_INT, MAX_UINT, MIN_INT, noOverload, Uint } from './values.ts';

const OVERFLOW = new CelError('integer overflow: the result is beyond 64 bits');
const TOO_BIG = new CelError(
  'the integer is too large to be converted to a double exactly: convert one side with double(…) or int(…)',
);
const BY_ZERO = new CelError('division by zero');

const int = (value: bigint): Value => (value > MAX_INT || value < MIN_INT ? OVERFLOW : value);
const uint = (value: bigint): Value => (value > MAX_UINT || value < 0n ? OVERFLOW : new Uint(value));

type Operation = {
  readonly sign: string;
  readonly double: (left: number, right: number) => number;
  readonly whole: (left: bigint, right: bigint) => bigint | CelError;
};

/**
 * An int beside a double becomes a double, because a JSON number is one and people write `event.n + 1`. An int that no
 * double holds exactly is an error there: better none than a rounded one.
 */
function calculate(operation: Operation, left: Value, right: Value): Value {
  if (left instanceof CelError) return left;
  if (right instanceof CelError) return right;
  if (typeof left === 'bigint' && typeof right === 'bigint') {
    const result = operation.whole(left, right);
    return typeof result === 'bigint' ? int(result) : result;
  }
  if (left instanceof Uint && right instanceof Uint) {
    const result = operation.whole(left.whole, right.whole);
    return typeof result === 'bigint' ? uint(result) : result;
  }
  const a = asDouble(left);
  const b = asDouble(right);
  if (a !== undefined && b !== undefined) return operation.double(a, b);
  return (typeof left === 'number' && typeof right === 'bigint') ||
    (typeof left === 'bigint' && typeof right === 'number')
    ? TOO_BIG
    : noOverload(operation.sign, left, right);
}

function asDouble(value: Value): number | undefined {
  if (typeof value === 'number') return value;
  return typeof value === 'bigint' && Number.isSafeInteger(Number(value)) ? Number(value) : undefined;
}

const ADD: Operation = { sign: '+', double: (a, b) => a + b, whole: (a, b) => a + b };
const SUBTRACT: Operation = { sign: '-', double: (a, b) => a - b, whole: (a, b) => a - b };
const MULTIPLY: Operation = { sign: '*', double: (a, b) => a * b, whole: (a, b) => a * b };
const DIVIDE: Operation = { sign: '/', double: (a, b) => a / b, whole: (a, b) => (b === 0n ? BY_ZERO : a / b) };
/** CEL has no `%` for doubles; event numbers are doubles, so it is the remainder with the sign of the dividend (fmod). */
const REMAINDER: Operation = { sign: '%', double: (a, b) => a % b, whole: (a, b) => (b === 0n ? BY_ZERO : a % b) };

export function add(meter: Meter, left: Value, right: Value): Value {
  if (typeof left === 'number' && typeof right === 'number') return left + right;
  if (typeof left === 'string' && typeof right === 'string') {
    return meter.text(left.length + right.length) ? left + right : TOO_COMPLEX;
  }
  if (isList(left) && isList(right)) {
    return meter.list(left.length + right.length) ? left.concat(right) : TOO_COMPLEX;
  }
  if (left instanceof Uint8Array && right instanceof Uint8Array) {
    return meter.text(left.length + right.length) ? Buffer.concat([left, right]) : TOO_COMPLEX;
  }
  return addTime(left, right) ?? calculate(ADD, left, right);
}

export function subtract(_meter: Meter, left: Value, right: Value): Value {
  if (typeof left === 'number' && typeof right === 'number') return left - right;
  return subtractTime(left, right) ?? calculate(SUBTRACT, left, right);
}

export const multiply = (_meter: Meter, left: Value, right: Value): Value => calculate(MULTIPLY, left, right);
export const divide = (_meter: Meter, left: Value, right: Value): Value => calculate(DIVIDE, left, right);
export const remainder = (_meter: Meter, left: Value, right: Value): Value => {
  if (typeof right === 'number' || typeof left === 'number') {
    const zero = right === 0 || right === 0n;
    if (zero && (typeof left === 'number' || typeof left === 'bigint')) return BY_ZERO;
  }
  return calculate(REMAINDER, left, right);
};

export function negateValue(value: Value): Value {
  if (typeof value === 'number') return -value;
  return typeof value === 'bigint' ? int(-value) : noOverload('-', value);
}

export const notValue = (value: Value): Value => (typeof value === 'boolean' ? !value : noOverload('!', value));
