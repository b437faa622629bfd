import { isLocale, isTimeZone, parseInstant, type Locality } from '@carillon/kernel';

type Options = Readonly<Record<string, unknown>>;

/**
 * Formatters cost 30 to 500 µs to make and hold some 50 KB each. Bounded, because tenants and their data choose locales and zones;
 * the least recently used one goes first, so that a stream of odd ones does not take away what most messages need.
 */
const FORMATTERS = 250;
const made = new Map<string, unknown>();
let everMade = 0;
/** How many formatters this thread has made. */
export const formattersMade = (): number => everMade;
function formatter<T>(kind: string, settings: unknown, make: () => T): T {
  const key = `${kind} ${JSON.stringify(settings)}`;
  const found = made.get(key) as T | undefined;
  if (found !== undefined) {
    made.delete(key);
    made.set(key, found);
    return found;
  }
  everMade += 1;
  const fresh = make();
  for (const oldest of made.keys()) {
    if (made.size < FORMATTERS) break;
    made.delete(oldest);
  }
  made.set(key, fresh);
  return fresh;
}

/** Returns the requested locale if it exists, else the reader's, because data must not be able to fail a message. */
const localeOf = ({ locale }: Options, locality: Locality): string =>
  typeof locale === 'string' && isLocale(locale) ? locale : locality.locale;
const zoneOf = ({ zone }: Options, locality: Locality): string =>
  typeof zone === 'string' && isTimeZone(zone) ? zone : locality.timeZone;

const WIDTHS = ['short', 'medium', 'long', 'full'] as const;
type Width = (typeof WIDTHS)[number];
const widthOf = (value: unknown): Width | undefined => WIDTHS.find((width) => width === value);

/**
 * A time as people read it; undefined if `value` is none. Takes RFC 3339 text, a date without time (which has no zone and
 * stays the day that it is), and milliseconds since 1970.
 */
export function formatDate(value: unknown, options: Options, locality: Locality): string | undefined {
  const calendar = typeof value === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(value);
  const text = calendar ? `${value}T00:00:00Z` : value;
  const at = typeof text === 'string' ? parseInstant(text) : typeof text === 'number' ? text : undefined;
  if (at === undefined || Number.isNaN(new Date(at).getTime())) return undefined;
  const time = calendar ? undefined : widthOf(options['time']);
  const date = widthOf(options['style']) ?? (options['style'] === 'none' && time ? undefined : 'medium');
  const settings = {
    locale: localeOf(options, locality),
    timeZone: calendar ? 'UTC' : zoneOf(options, locality),
    ...(date && { dateStyle: date }),
    ...(time && { timeStyle: time }),
  };
  return formatter('date', settings, () => new Intl.DateTimeFormat(settings.locale, settings)).format(at);
}

/** A number, or decimal text: integers beyond 2^53 travel as text, and are formatted exactly. */
function numeric(value: unknown): Intl.StringNumericLiteral | number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
  return typeof value === 'string' && /^-?\d{1,40}(\.\d{1,40})?$/.test(value)
    ? (value as Intl.StringNumericLiteral)
    : undefined;
}

const digitsOf = (value: unknown): number | undefined =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 20 ? (value as number) : undefined;

export function formatNumber(value: unknown, options: Options, locality: Locality): string | undefined {
  const number = numeric(value);
  if (number === undefined) return undefined;
  const minimum = digitsOf(options['minimum']);
  const maximum = digitsOf(options['maximum']);
  const settings = {
    locale: localeOf(options, locality),
    style: options['style'] === 'percent' ? ('percent' as const) : ('decimal' as const),
    ...(minimum !== undefined && { minimumFractionDigits: Math.min(minimum, maximum ?? minimum) }),
    ...(maximum !== undefined && { maximumFractionDigits: maximum }),
  };
  return formatter('number', settings, () => new Intl.NumberFormat(settings.locale, settings)).format(number);
}

/** An amount in units of the currency (19.9 is 19.90 €). A code that is none is put behind the plain number. */
export function formatCurrency(
  value: unknown,
  code: unknown,
  options: Options,
  locality: Locality,
): string | undefined {
  if (numeric(value) === undefined) return undefined;
  if (typeof code !== 'string' || !/^[A-Za-z]{3}$/.test(code)) {
    const plain = formatNumber(value, options, locality);
    return typeof code === 'string' && code !== '' ? `${plain} ${code}` : plain;
  }
  const settings = { locale: localeOf(options, locality), style: 'currency' as const, currency: code.toUpperCase() };
  const format = formatter('currency', settings, () => new Intl.NumberFormat(settings.locale, settings));
  return format.format(numeric(value) as number);
}

/** The form of a word that goes with a number in the language: `one`, `few`, `other`. */
export function choosePlural(value: unknown, options: Options, locality: Locality): unknown {
  const number = numeric(value);
  if (number === undefined) return undefined;
  const locale = localeOf(options, locality);
  const rules = formatter('plural', locale, () => new Intl.PluralRules(locale));
  return options[rules.select(Number(number))] ?? options['other'];
}

/**
 * How long the name of the host in an address can be at most. Parsing takes the square of it: names of other scripts are
 * encoded, also where they are written with percent signs.
 */
export function longestHost(address: string): number {
  const rest = address.slice(address.indexOf(':') + 1).replace(/^[/\\\s]+/, '');
  const end = rest.search(/[/\\?#]/);
  return end < 0 ? rest.length : end;
}

/** The address if it is one for https without a name or password in it (which would hide the true host), else undefined. */
export function safeUrl(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.length > 4096) return undefined;
  const url = URL.parse(value);
  if (!url) return undefined;
  return url.protocol === 'https:' && url.username === '' && url.password === '' ? url.href : undefined;
}

/** -1, 0 or 1 for two numbers or two texts; undefined if they cannot be compared. */
export function compare(a: unknown, b: unknown): number | undefined {
  const [x, y] = typeof a === 'string' && typeof b === 'string' ? [a, b] : [numeric(a), numeric(b)];
  if (x === undefined || y === undefined) return undefined;
  const [left, right] = typeof a === 'string' && typeof b === 'string' ? [x, y] : [Number(x), Number(y)];
  return left < right ? -1 : left > right ? 1 : 0;
}

/** What a variable looks like in text. Lists are joined by commas; an object is its JSON text. */
export function show(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value === null || value === undefined) return '';
  if (Array.isArray(value) && value.every((item) => typeof item !== 'object' || item === null)) {
    return value.map((item) => show(item)).join(', ');
  }
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : JSON.stringify(value);
}
