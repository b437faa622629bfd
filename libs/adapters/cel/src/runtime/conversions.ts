import type { Meter } from './meter.ts';
import { TOO_COMPLEX } from './meter.ts';
import { NUMBER_FROM_TEXT, SPAN_FROM_TEXT, TIME_FROM_TEXT, TIME_TO_TEXT } from './prices.ts';
import {
  readSpan,
  readTimestamp,
  secondsToTimestamp,
  unixSeconds,
  wholeSeconds,
  writeSpan,
  writeTimestamp,
} from './time.ts';
import type { Value } from './values.ts';
import { CelError, MAX_INT, MAX_UINT, MIN_INT, noOverload, Span, Timestamp, Uint } from './values.ts';

const unreadable = (type: string, text: string): CelError =>
  new CelError(`not a value of ${type}: ${JSON.stringify(text.slice(0, 60))}`);
const beyond = (type: string): CelError => new CelError(`the value is outside the range of ${type}`);

const wholeOf = (value: bigint): Value => (value > MAX_INT || value < MIN_INT ? beyond('int') : value);
const unsignedOf = (value: bigint): Value => (value > MAX_UINT || value < 0n ? beyond('uint') : new Uint(value));

export function toInt(meter: Meter, value: Value): Value {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'number') {
    return Math.abs(value) < 2 ** 63 ? BigInt(Math.trunc(value)) : beyond('int');
  }
  if (typeof value === 'string') {
    if (!meter.spend(NUMBER_FROM_TEXT)) return TOO_COMPLEX;
    return /^[+-]?\d{1,40}$/.test(value) ? wholeOf(BigInt(value.replace('+', ''))) : unreadable('int', value);
  }
  if (value instanceof Uint) return wholeOf(value.whole);
  if (value instanceof Span) return wholeSeconds(value);
  return value instanceof Timestamp ? unixSeconds(value) : noOverload('int', value);
}

export function toUint(meter: Meter, value: Value): Value {
  if (value instanceof Uint) return value;
  if (typeof value === 'bigint') return unsignedOf(value);
  if (typeof value === 'number') {
    return value > -1 && value < 2 ** 64 ? unsignedOf(BigInt(Math.trunc(value))) : beyond('uint');
  }
  if (typeof value === 'string') {
    if (!meter.spend(NUMBER_FROM_TEXT)) return TOO_COMPLEX;
    return /^\+?\d{1,40}$/.test(value) ? unsignedOf(BigInt(value.replace('+', ''))) : unreadable('uint', value);
  }
  return noOverload('uint', value);
}

const SPECIAL: Readonly<Record<string, number>> = { inf: Infinity, infinity: Infinity, nan: NaN };

export function toDouble(meter: Meter, value: Value): Value {
  if (typeof value === 'number') return value;
  if (typeof value === 'bigint') return Number(value);
  if (value instanceof Uint) return Number(value.whole);
  if (typeof value !== 'string') return noOverload('double', value);
  if (!meter.spend(NUMBER_FROM_TEXT + value.length / 2)) return TOO_COMPLEX;
  if (/^[+-]?(\d+(?:\.\d*)?|\.\d+)([eE][+-]?\d+)?$/.test(value)) return Number(value);
  const special = /^([+-]?)(inf|infinity|nan)$/i.exec(value);
  const size = SPECIAL[special?.[2]?.toLowerCase() ?? ''];
  if (size === undefined) return unreadable('double', value);
  return special?.[1] === '-' ? -size : size;
}

const TRUE = new Set(['1', 't', 'T', 'true', 'TRUE', 'True']);
const FALSE = new Set(['0', 'f', 'F', 'false', 'FALSE', 'False']);

export function toBool(_meter: Meter, value: Value): Value {
  if (typeof value === 'boolean') return value;
  if (typeof value !== 'string') return noOverload('bool', value);
  return TRUE.has(value) || (FALSE.has(value) ? false : unreadable('bool', value));
}

/** Numbers as JSON writes them: an order number stays the digits that it is. */
export function toText(meter: Meter, value: Value): Value {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return Number.isFinite(value) || Number.isNaN(value) ? String(value) : infinite(value);
  if (typeof value === 'bigint' || typeof value === 'boolean') return String(value);
  if (value instanceof Uint) return value.whole.toString();
  if (value instanceof Timestamp) return meter.spend(TIME_TO_TEXT) ? writeTimestamp(value) : TOO_COMPLEX;
  if (value instanceof Span) return meter.spend(TIME_TO_TEXT) ? writeSpan(value) : TOO_COMPLEX;
  return value instanceof Uint8Array ? decode(meter, value) : noOverload('string', value);
}

const infinite = (value: number): string => (value > 0 ? '+Inf' : '-Inf');

function decode(meter: Meter, bytes: Uint8Array): Value {
  if (!meter.text(bytes.length)) return TOO_COMPLEX;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return new CelError('the bytes are not UTF-8 text');
  }
}

export function toBytes(meter: Meter, value: Value): Value {
  if (value instanceof Uint8Array) return value;
  if (typeof value !== 'string') return noOverload('bytes', value);
  return meter.text(value.length) ? Buffer.from(value, 'utf8') : TOO_COMPLEX;
}

/** Unix seconds or RFC 3339 text; whole doubles too, since the numbers of events are doubles. */
export function toTimestamp(meter: Meter, value: Value): Value {
  if (value instanceof Timestamp) return value;
  if (typeof value === 'string') return meter.spend(TIME_FROM_TEXT) ? readTimestamp(value) : TOO_COMPLEX;
  if (typeof value === 'bigint') return secondsToTimestamp(value);
  return Number.isInteger(value) ? secondsToTimestamp(BigInt(Number(value))) : noOverload('timestamp', value);
}

export function toDuration(meter: Meter, value: Value): Value {
  if (value instanceof Span) return value;
  if (typeof value !== 'string') return noOverload('duration', value);
  return meter.spend(SPAN_FROM_TEXT) ? readSpan(value) : TOO_COMPLEX;
}
