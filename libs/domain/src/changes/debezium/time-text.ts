/** Seconds of 0001-01-01T00:00:00Z and of 9999-12-31T23:59:59Z. */
const FIRST_SECOND = -62_135_596_800n;
const LAST_SECOND = 253_402_300_799n;

/** Digits of a fraction of a second, by how many such parts a second has. */
const DIGITS = { '1000': 3, '1000000': 6, '1000000000': 9 } as const;
export type PartsPerSecond = keyof typeof DIGITS;

/** Returns `.5` of 500 milliseconds, and nothing of none. */
const fractionText = (parts: bigint, per: PartsPerSecond): string =>
  trimFraction(String(parts).padStart(DIGITS[per], '0'));

function trimFraction(digits: string): string {
  const significant = digits.replace(/0+$/, '');
  return significant === '' ? '' : `.${significant}`;
}

/**
 * Returns parts of a second since 1970 as RFC 3339 without a zone and without zeros at the end, such as
 * `2026-03-29T00:30:00.123456`. Undefined before the year 1 and after 9999.
 */
export function timestampText(count: bigint, per: PartsPerSecond): string | undefined {
  const divisor = BigInt(per);
  const parts = ((count % divisor) + divisor) % divisor;
  const seconds = (count - parts) / divisor;
  if (seconds < FIRST_SECOND || seconds > LAST_SECOND) return undefined;
  return new Date(Number(seconds) * 1000).toISOString().slice(0, 19) + fractionText(parts, per);
}

const DAY_SECONDS = 86_400n;
/**
 * Values that a connector writes for `infinity` and `-infinity`:
 * https://debezium.io/documentation/reference/connectors/postgresql.html#postgresql-temporal-types
 */
const INFINITE_MS: ReadonlyMap<bigint, string> = new Map([
  [9_223_372_036_825_200n, 'infinity'],
  [-9_223_372_036_832_400n, '-infinity'],
]);

function infinityText(count: bigint, per: PartsPerSecond): string | undefined {
  const partsPerMs = BigInt(per) / 1000n;
  return count % partsPerMs === 0n ? INFINITE_MS.get(count / partsPerMs) : undefined;
}

/**
 * Formats a timestamp like `timestampText`. Infinity, years before 1 and after 9999 have PostgreSQL's form, such as
 * `0044-03-15 12:00:00 BC`.
 */
export function databaseTimestamp(count: bigint, per: PartsPerSecond): string {
  const text = infinityText(count, per) ?? timestampText(count, per);
  if (text !== undefined) return text;
  const divisor = BigInt(per) * DAY_SECONDS;
  const ofDay = ((count % divisor) + divisor) % divisor;
  return databaseDay((count - ofDay) / divisor, ` ${timeText(ofDay, per)}`);
}

/** Day numbers that Debezium 3.6.1 writes for the dates `infinity` and `-infinity`. Those of snapshots and lists differ from those of changes. */
const INFINITE_DAYS: ReadonlyMap<bigint, string> = new Map([
  [-622_191_234n, 'infinity'],
  [-625_821_272n, '-infinity'],
  [-2_147_472_692n, 'infinity'],
  [-2_147_472_691n, '-infinity'],
]);
/** 4714-11-24 BC and 5874897-12-31, the first and the last date of PostgreSQL. No other database has further ones. */
const FIRST_DAY = -2_440_588n;
const LAST_DAY = 2_145_042_905n;

/**
 * Returns days since 1970 as a date; infinity and the years before 1 and after 9999 as PostgreSQL writes them. Undefined if no
 * database has such a date.
 */
export function dateText(days: bigint): string | undefined {
  if (days < FIRST_DAY || days > LAST_DAY) return INFINITE_DAYS.get(days);
  return timestampText(days * DAY_SECONDS * 1000n, '1000')?.slice(0, 10) ?? databaseDay(days, '');
}

const DAYS_OF_400_YEARS = 146_097n;

/** JavaScript's own dates end before those of PostgreSQL, so the day is moved by whole cycles of 400 years. */
function databaseDay(days: bigint, time: string): string {
  const within = ((days % DAYS_OF_400_YEARS) + DAYS_OF_400_YEARS) % DAYS_OF_400_YEARS;
  const cycles = Number((days - within) / DAYS_OF_400_YEARS);
  const day = new Date(Number(within * DAY_SECONDS) * 1000);
  return databaseYear(day.getUTCFullYear() + cycles * 400, `${day.toISOString().slice(4, 10)}${time}`);
}

/** The year before 1 is 1 BC. */
const databaseYear = (year: number, rest: string): string =>
  year > 0 ? `${String(year).padStart(4, '0')}${rest}` : `${String(1 - year).padStart(4, '0')}${rest} BC`;

/** Returns parts of a second since midnight as a time. MySQL has times of up to 838 hours, also negative ones. */
export function timeText(count: bigint, per: PartsPerSecond): string {
  const divisor = BigInt(per);
  const size = count < 0n ? -count : count;
  const seconds = size / divisor;
  const two = (value: bigint): string => String(value).padStart(2, '0');
  const clock = [seconds / 3600n, (seconds / 60n) % 60n, seconds % 60n].map(two).join(':');
  return `${count < 0n ? '-' : ''}${clock}${fractionText(size % divisor, per)}`;
}

const FAR = /^(0000|[+-]\d{4,9})(-\d{2}-\d{2})T(\d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?(Z?)$/;

/** Returns a date and time of a year before 1 or after 9999 as PostgreSQL writes it. Undefined: the text is none. */
function farText(text: string): string | undefined {
  const [, year, day, clock, fraction = '', zone] = FAR.exec(text) ?? [];
  if (year === undefined) return undefined;
  return databaseYear(Number(year), `${day} ${clock}${trimFraction(fraction)}${zone === 'Z' ? '+00' : ''}`);
}

const ZONED = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?(Z|[+-]\d{2}:\d{2})$/;

/** Returns a date and time with zone in UTC, without trailing zeros. Text of another form stays unchanged. */
export function zonedTimestampText(text: string): string {
  const [, seconds, fraction = '', zone] = ZONED.exec(text) ?? [];
  const far = farText(text);
  if (far !== undefined || seconds === undefined || zone === undefined) return far ?? text;
  if (zone === 'Z') return `${seconds}${trimFraction(fraction)}Z`;
  const moment = Date.parse(`${seconds}${zone}`);
  const utc = Number.isNaN(moment) ? undefined : timestampText(BigInt(moment), '1000');
  return utc === undefined ? text : `${utc}${trimFraction(fraction)}Z`;
}

/** Infinite dates in ISO 8601. */
const INFINITE_DATES: ReadonlyMap<string, string> = new Map([
  ['+292278994-08-16Z', 'infinity'],
  ['+292269055-12-02Z', '-infinity'],
  ['-5877611-06-21Z', 'infinity'],
  ['-5877611-06-22Z', '-infinity'],
]);
const INFINITE_TIMESTAMPS: ReadonlyMap<string, string> = new Map([
  ['+294247-01-10T04:00:25.2Z', 'infinity'],
  ['-290308-12-21T19:59:27.6Z', '-infinity'],
]);
const FAR_DATE = /^(0000|[+-]\d{4,9})(-\d{2}-\d{2})Z$/;

/** Returns a date in ISO 8601 without its `Z`; infinity and the years before 1 and after 9999 as PostgreSQL writes them. */
export function isoDateText(text: string): string {
  const [, year, day = ''] = FAR_DATE.exec(text) ?? [];
  return INFINITE_DATES.get(text) ?? (year === undefined ? unzonedText(text) : databaseYear(Number(year), day));
}

/** Returns an ISO 8601 date and time without zone as timestamp text. */
export const isoTimestampText = (text: string): string =>
  INFINITE_TIMESTAMPS.get(text) ?? farText(text.replace(/Z$/, '')) ?? unzonedText(text);

const WITHOUT_ZONE = /^((?:\d{4}-\d{2}-\d{2})?T?(?:\d{2}:\d{2}:\d{2})?)(?:\.(\d{1,9}))?Z$/;

/** Returns a date, a time or both without the `Z` that a connector puts behind values that have no zone. */
export function unzonedText(text: string): string {
  const [, whole, fraction = ''] = WITHOUT_ZONE.exec(text) ?? [];
  return whole === undefined ? text : `${whole}${trimFraction(fraction)}`;
}
