import { instantShowing } from '@carillon/domain/cadence';
import type { Value } from './values.ts';
import { CelError, Span, Timestamp } from './values.ts';

const SECOND = 1_000_000_000n;
const MILLISECOND = 1_000_000n;
const FIRST = -62_135_596_800n * SECOND;
const LAST = 253_402_300_800n * SECOND - 1n;
/** 64 bits of nanoseconds, about 292 years, as the reference implementation has it. */
const LONGEST = 9_223_372_036_854_775_807n;

const timestampError = new CelError('timestamp outside the years 1 to 9999');
const durationError = new CelError('duration beyond 290 years');

export const timestampOf = (nanos: bigint): Timestamp | CelError =>
  nanos < FIRST || nanos > LAST ? timestampError : new Timestamp(nanos);
export const spanOf = (nanos: bigint): Span | CelError =>
  nanos > LONGEST || nanos < -LONGEST - 1n ? durationError : new Span(nanos);

export const instantToTimestamp = (milliseconds: number): Timestamp | CelError =>
  Number.isFinite(milliseconds) ? timestampOf(BigInt(Math.trunc(milliseconds)) * MILLISECOND) : timestampError;

export const secondsToTimestamp = (seconds: bigint): Timestamp | CelError => timestampOf(seconds * SECOND);

const floorDivide = (a: bigint, b: bigint): bigint => (a >= 0n || a % b === 0n ? a / b : a / b - 1n);

export const unixSeconds = (at: Timestamp): bigint => floorDivide(at.nanos, SECOND);

/** Whole seconds of a duration; a part of a second is cut off. */
export const wholeSeconds = (span: Span): bigint => span.nanos / SECOND;

export function addTime(left: Value, right: Value): Value | undefined {
  if (left instanceof Timestamp && right instanceof Span) return timestampOf(left.nanos + right.nanos);
  if (left instanceof Span && right instanceof Timestamp) return timestampOf(left.nanos + right.nanos);
  return left instanceof Span && right instanceof Span ? spanOf(left.nanos + right.nanos) : undefined;
}

export function subtractTime(left: Value, right: Value): Value | undefined {
  if (left instanceof Timestamp && right instanceof Span) return timestampOf(left.nanos - right.nanos);
  if (left instanceof Timestamp && right instanceof Timestamp) return spanOf(left.nanos - right.nanos);
  return left instanceof Span && right instanceof Span ? spanOf(left.nanos - right.nanos) : undefined;
}

const WRITTEN = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9})\d*)?([Zz]|[+-]\d\d:\d\d)$/;

/** RFC 3339 with nanoseconds; calendar nonsense is an error. */
export function readTimestamp(text: string): Timestamp | CelError {
  const parts = WRITTEN.exec(text);
  const milliseconds = parts ? Date.parse(`${text.slice(0, 19).toUpperCase()}Z`) : NaN;
  if (!parts || Number.isNaN(milliseconds) || new Date(milliseconds).getUTCDate() !== Number(parts[3])) {
    return new CelError(`not an RFC 3339 timestamp: ${JSON.stringify(text.slice(0, 60))}`);
  }
  const zone = parts[8] ?? 'Z';
  const offset = zone.length === 1 ? 0 : (readOffset(zone) ?? NaN);
  if (Number.isNaN(offset)) return new CelError(`no such time zone offset: ${zone}`);
  const fraction = BigInt((parts[7] ?? '').padEnd(9, '0'));
  return timestampOf(BigInt(milliseconds - offset) * MILLISECOND + fraction);
}

const fractionText = (nanos: bigint): string => {
  const digits = nanos.toString().padStart(9, '0').replace(/0+$/, '');
  return digits === '' ? '' : `.${digits}`;
};

export function writeTimestamp(at: Timestamp): string {
  const seconds = unixSeconds(at);
  const whole = new Date(Number(seconds) * 1000).toISOString().slice(0, 19);
  return `${whole}${fractionText(at.nanos - seconds * SECOND)}Z`;
}

export function writeSpan(span: Span): string {
  const size = span.nanos < 0n ? -span.nanos : span.nanos;
  return `${span.nanos < 0n ? '-' : ''}${size / SECOND}${fractionText(size % SECOND)}s`;
}

const UNITS: Readonly<Record<string, bigint>> = {
  h: 3600n * SECOND,
  m: 60n * SECOND,
  s: SECOND,
  ms: MILLISECOND,
  us: 1000n,
  µs: 1000n,
  ns: 1n,
};

/** `1h30m`, `-1.5s`, `300ms`: the units h m s ms us ns. */
export function readSpan(text: string): Span | CelError {
  const failed = new CelError(`not a duration: ${JSON.stringify(text.slice(0, 60))} (write 90s, 1h30m or 300ms)`);
  const [, sign, size = ''] = /^([+-]?)(.{1,100})$/.exec(text) ?? [];
  if (size === '0') return new Span(0n);
  const pieces = size.match(/(?:\d+(?:\.\d*)?|\.\d+)(?:h|ms|us|µs|ns|m|s)/g) ?? [];
  if (pieces.length === 0 || pieces.join('') !== size) return failed;
  let nanos = 0n;
  for (const piece of pieces) {
    const [, whole = '', fraction = '', unit = ''] = /^(\d*)\.?(\d*)(.*)$/.exec(piece) ?? [];
    const scale = UNITS[unit] ?? 0n;
    nanos += BigInt(whole || '0') * scale + (BigInt(fraction || '0') * scale) / 10n ** BigInt(fraction.length);
  }
  return spanOf(sign === '-' ? -nanos : nanos);
}

/** `+02:00`, `-02:30`, `02:00`: milliseconds. */
function readOffset(zone: string): number | undefined {
  const parts = /^([+-]?)(\d\d):(\d\d)$/.exec(zone);
  if (!parts || Number(parts[2]) > 23 || Number(parts[3]) > 59) return undefined;
  const size = (Number(parts[2]) * 60 + Number(parts[3])) * 60_000;
  return parts[1] === '-' ? -size : size;
}

/**
 * Calendars of zones are costly to make and there are some 600. They are kept by their names in lower case, as which all
 * spellings of a name are one; names that are no zone are not kept.
 */
const calendars = new Map<string, Intl.DateTimeFormat>();

function calendarOf(written: string): Intl.DateTimeFormat | undefined {
  if (written.length > 64) return undefined;
  const zone = written.toLowerCase();
  const known = calendars.get(zone);
  if (known) return known;
  try {
    const made = new Intl.DateTimeFormat('en-US-u-ca-iso8601-nu-latn', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
    calendars.set(zone, made);
    return made;
  } catch {
    return undefined;
  }
}

/** The wall clock of a zone at an instant, as the Date whose UTC fields show it. */
export function wallClock(at: Timestamp, zone: string | undefined): Date | CelError {
  const milliseconds = Number(floorDivide(at.nanos, MILLISECOND));
  if (zone === undefined || zone === 'UTC' || zone === 'Z') return new Date(milliseconds);
  const offset = readOffset(zone);
  if (offset !== undefined) return new Date(milliseconds + offset);
  const calendar = calendarOf(zone);
  if (!calendar) return new CelError(`no such time zone: ${JSON.stringify(zone.slice(0, 60))}`);
  const part = Object.fromEntries(calendar.formatToParts(milliseconds).map(({ type, value }) => [type, Number(value)]));
  const shown = new Date(0);
  shown.setUTCFullYear(part['year'] ?? 0, (part['month'] ?? 1) - 1, part['day'] ?? 1);
  shown.setUTCHours(part['hour'] ?? 0, part['minute'] ?? 0, part['second'] ?? 0, ((milliseconds % 1000) + 1000) % 1000);
  return shown;
}

/** Returns true if a name, or an offset such as `+02:00`, is one of a zone. */
export const isZone = (zone: string): boolean => !(wallClock(new Timestamp(0n), zone) instanceof CelError);

const LOCAL = /^(\d{4}-\d\d-\d\d)(?:[Tt](\d\d:\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?)?$/;

/** A date, or a date and a time, that a clock on the wall shows: the milliseconds at which UTC shows the same, and what is left of them. */
export type LocalText = { readonly wall: number; readonly nanos: bigint };

export function readLocalText(text: string): LocalText | CelError {
  const [, date = '', minute = '00:00', second = '00', fraction = ''] = LOCAL.exec(text) ?? [];
  const wall = Date.parse(`${date}T${minute}:${second}Z`);
  if (Number.isNaN(wall) || new Date(wall).toISOString().slice(0, 10) !== date) {
    return new CelError(
      `not a date or local time: ${JSON.stringify(text.slice(0, 60))} (write 2026-01-31T09:00, without a zone)`,
    );
  }
  return { wall, nanos: BigInt(fraction.padEnd(9, '0')) };
}

/**
 * Returns when the clock of a zone shows a time: the first time if it is shown twice, the end of the gap if it is left out. `isInGap`: more
 * readings of the clock were needed.
 */
export function localTime(
  { wall, nanos }: LocalText,
  zone: string,
): { readonly at: Timestamp | CelError; readonly isInGap: boolean } {
  const shownAt = (instant: number): number => {
    const shown = wallClock(new Timestamp(BigInt(instant) * MILLISECOND), zone);
    return shown instanceof CelError ? Number.NaN : shown.getTime();
  };
  const instant = instantShowing((at) => shownAt(at) - at, wall, 'first');
  const isInGap = shownAt(instant) !== wall;
  return { at: timestampOf(BigInt(instant) * MILLISECOND + (isInGap ? 0n : nanos)), isInGap };
}

/** What the accessors of timestamps read; months, weekdays and days of month and year begin at 0, `getDate` at 1. */
export const CLOCK_READERS: Readonly<Record<string, (clock: Date) => number>> = {
  getFullYear: (clock) => clock.getUTCFullYear(),
  getMonth: (clock) => clock.getUTCMonth(),
  getDate: (clock) => clock.getUTCDate(),
  getDayOfMonth: (clock) => clock.getUTCDate() - 1,
  getDayOfWeek: (clock) => clock.getUTCDay(),
  getDayOfYear: (clock) => Math.floor((clock.getTime() - new Date(clock).setUTCMonth(0, 1)) / 86_400_000 + 0.5),
  getHours: (clock) => clock.getUTCHours(),
  getMinutes: (clock) => clock.getUTCMinutes(),
  getSeconds: (clock) => clock.getUTCSeconds(),
  getMilliseconds: (clock) => clock.getUTCMilliseconds(),
};

/** Durations are read whole: 90 minutes are 1 hour and 90 minutes; only milliseconds are the part of a second. */
export const SPAN_READERS: Readonly<Record<string, (nanos: bigint) => bigint>> = {
  getHours: (nanos) => nanos / (3600n * SECOND),
  getMinutes: (nanos) => nanos / (60n * SECOND),
  getSeconds: (nanos) => nanos / SECOND,
  getMilliseconds: (nanos) => (nanos / MILLISECOND) % 1000n,
};
