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
/** What a connector writes for `infinity` and `-infinity` of a timestamp: https://debezium.io/documentation/reference/connectors/postgresql.html#postgresql-temporal-types */
const INFINITIES: ReadonlyMap<bigint, string> = new Map([
  [9_223_372_036_825_200_000n, 'infinity'],
  [-9_223_372_036_832_400_000n, '-infinity'],
]);

/** As `timestampText`. Infinity, years before 1 and after 9999 are written as PostgreSQL does, such as `0044-03-15 12:00:00 BC`. */
export function databaseTimestamp(count: bigint, per: PartsPerSecond): string {
  const text = INFINITIES.get(count) ?? timestampText(count, per);
  if (text !== undefined) return text;
  const divisor = BigInt(per) * DAY_SECONDS;
  const ofDay = ((count % divisor) + divisor) % divisor;
  return databaseDay((count - ofDay) / divisor, ` ${timeText(ofDay, per)}`);
}

/** Returns days since 1970 as a date, in the years before 1 and after 9999 as PostgreSQL writes it. */
export const dateText = (days: bigint): string =>
  timestampText(days * DAY_SECONDS * 1000n, '1000')?.slice(0, 10) ?? databaseDay(days, '');

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

/** Returns a date and time with its zone in UTC, without zeros at the end. Text of another form stays as it is. */
export function zonedTimestampText(text: string): string {
  const [, seconds, fraction = '', zone] = ZONED.exec(text) ?? [];
  const far = farText(text);
  if (far !== undefined || seconds === undefined || zone === undefined) return far ?? text;
  if (zone === 'Z') return `${seconds}${trimFraction(fraction)}Z`;
  const moment = Date.parse(`${seconds}${zone}`);
  const utc = Number.isNaN(moment) ? undefined : timestampText(BigInt(moment), '1000');
  return utc === undefined ? text : `${utc}${trimFraction(fraction)}Z`;
}

const WITHOUT_ZONE = /^((?:\d{4}-\d{2}-\d{2})?T?(?:\d{2}:\d{2}:\d{2})?)(?:\.(\d{1,9}))?Z$/;

/** Returns a date, a time or both without the `Z` that a connector puts behind values that have no zone. */
export function unzonedText(text: string): string {
  const [, whole, fraction = ''] = WITHOUT_ZONE.exec(text) ?? [];
  return whole === undefined ? text : `${whole}${trimFraction(fraction)}`;
}
