/** Units of a duration, smallest first, as its text ends. */
export const SPAN_UNITS = ['s', 'm', 'h', 'd'] as const;
export type SpanUnit = (typeof SPAN_UNITS)[number];

const NAMES: Readonly<Record<SpanUnit, string>> = { s: 'second', m: 'minute', h: 'hour', d: 'day' };
const DAYS_OF_WEEK = 7;

/** A duration as two fields of a form. The amount is text: it may be half typed. */
export type Span = { readonly amount: string; readonly unit: SpanUnit };

const isUnit = (text: string): text is SpanUnit => SPAN_UNITS.some((unit) => unit === text);

/** Reads `90m`, also if its number is half typed or missing. */
export function readSpan(text: string): Span {
  const [amount, unit] = [text.slice(0, -1), text.slice(-1)];
  if (unit === 'w' && /^\d+$/.test(amount)) return { amount: String(Number(amount) * DAYS_OF_WEEK), unit: 'd' };
  return isUnit(unit) ? { amount, unit } : { amount: text, unit: 'h' };
}

/** Returns `90m`. The server says what is wrong if the amount is no number. */
export const spanText = ({ amount, unit }: Span): string => `${amount.trim()}${unit}`;

/** The units in a list beside an amount: `hour` beside 1, else `hours`. */
export const unitOptions = (amount: string, units: readonly SpanUnit[] = SPAN_UNITS) =>
  units.map((id) => ({ id, name: amount.trim() === '1' ? NAMES[id] : `${NAMES[id]}s` }));

/** `1h` is "an hour", `90m` is "90 minutes". Text that is no duration stays. */
export function spanWords(text: string): string {
  const { amount, unit } = readSpan(text);
  if (!/^\d+$/.test(amount)) return text;
  if (amount !== '1') return `${amount} ${NAMES[unit]}s`;
  return `${unit === 'h' ? 'an' : 'a'} ${NAMES[unit]}`;
}
