import type { Json } from '@carillon/kernel';
import { readAnyText } from '../events/json-reader-any.ts';
import type { JsonLimits } from '../events/limits.ts';

export { exactNumber } from '../events/json-reader-numbers.ts';

const DECIMAL = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** Returns a binary floating-point number, whose text names one double. `NaN` and `Infinity` stay text. */
export function exactFloat(text: string): number | string {
  const double = DECIMAL.test(text) ? Number(text) : Number.NaN;
  // JSON has no negative zero.
  return Number.isFinite(double) ? double + 0 : text;
}

const MOMENT = /^(\d{4}-\d{2}-\d{2}) (\d{2}:\d{2}:\d{2}(?:\.\d{1,6})?)(\+00)?$/;

/**
 * Returns date and time of a database in UTC, such as `2026-03-29 00:30:00.123456+00`, in the form of RFC 3339 with all its
 * digits. Without a zone it stays without. Infinity, years before 1 and after 9999 stay as they are written.
 */
export function exactMoment(text: string): string {
  const [, date, time, zone] = MOMENT.exec(text) ?? [];
  return date === undefined || time === undefined ? text : `${date}T${time}${zone === undefined ? '' : 'Z'}`;
}

const MICROSECONDS_PER_SECOND = 1_000_000n;

/** Returns microseconds since 1970 as RFC 3339 in UTC with six digits, for the years 1 to 9999. */
export function formatMicroseconds(microseconds: bigint): string {
  const within = ((microseconds % MICROSECONDS_PER_SECOND) + MICROSECONDS_PER_SECOND) % MICROSECONDS_PER_SECOND;
  const seconds = Number((microseconds - within) / MICROSECONDS_PER_SECOND);
  const text = new Date(seconds * 1000).toISOString().slice(0, 19);
  return `${text}.${String(within).padStart(6, '0')}Z`;
}

/**
 * Limits of a JSON column, so that the record of its change, in which it lies two levels deep and in up to six lists, is
 * within 32.
 */
const COLUMN_LIMITS = { depth: 24, keys: 20_000, exactNumbers: true };

/** Returns the value of a JSON column with exact numbers, or the text if the strict reader refuses it. */
export const exactJson = (text: string): Json => jsonOrText(text, COLUMN_LIMITS);

/** Reads a document whose fields are columns, so that they may have any name. */
export const exactDocument = (text: string): Json => jsonOrText(text, { ...COLUMN_LIMITS, anyName: true });

function jsonOrText(text: string, limits: JsonLimits): Json {
  const read = readAnyText(text, limits);
  return read.ok ? read.value : text;
}
