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

/** Returns days since 1970 as a date. Undefined before the year 1 and after 9999. */
export const dateText = (days: bigint): string | undefined =>
  timestampText(days * 86_400n * 1000n, '1000')?.slice(0, 10);

/** Returns parts of a second since midnight as a time. MySQL has times of up to 838 hours, also negative ones. */
export function timeText(count: bigint, per: PartsPerSecond): string {
  const divisor = BigInt(per);
  const size = count < 0n ? -count : count;
  const seconds = size / divisor;
  const two = (value: bigint): string => String(value).padStart(2, '0');
  const clock = [seconds / 3600n, (seconds / 60n) % 60n, seconds % 60n].map(two).join(':');
  return `${count < 0n ? '-' : ''}${clock}${fractionText(size % divisor, per)}`;
}

const ZONED = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?(Z|[+-]\d{2}:\d{2})$/;

/** Returns a date and time with its zone in UTC, without zeros at the end. What has another form stays as it is. */
export function zonedTimestampText(text: string): string {
  const [, seconds, fraction = '', zone] = ZONED.exec(text) ?? [];
  if (seconds === undefined || zone === undefined) return text;
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
