import type { Meter } from './meter.ts';
import { MAX_LIST, TOO_COMPLEX } from './meter.ts';
import { LIST_ELEMENT, searchBackPrice, searchPrice, TEXT_CUT } from './prices.ts';
import type { Value } from './values.ts';
import { CelError } from './values.ts';

/**
 * Positions of CEL count code points, those of JavaScript UTF-16 units. A text without surrogates has one unit per code point, so no
 * position is converted.
 */
const SURROGATE = /[\ud800-\udfff]/;

/** Charges the budget for reading a text by code points. Returns false if it is used up. A text with surrogates costs more, because it is split. */
const admitsPoints = (meter: Meter, text: string): boolean =>
  meter.text(text.length) && (!SURROGATE.test(text) || meter.spend(text.length * TEXT_CUT));

export function textSize(meter: Meter, text: string): Value {
  if (!admitsPoints(meter, text)) return TOO_COMPLEX;
  return BigInt(SURROGATE.test(text) ? [...text].length : text.length);
}

/** Returns the index in UTF-16 units of a position in code points. Undefined if the position is outside of the text. */
function unitAt(text: string, points: number): number | undefined {
  if (!Number.isInteger(points) || points < 0 || points > text.length) return undefined;
  if (!SURROGATE.test(text)) return points;
  const all = [...text];
  return points > all.length ? undefined : all.slice(0, points).join('').length;
}

const pointAt = (text: string, unit: number): bigint => {
  if (unit < 0) return -1n;
  const before = text.slice(0, unit);
  return BigInt(SURROGATE.test(before) ? [...before].length : unit);
};

/** Returns how many steps of this price the budget still covers. It bounds a loop before the steps are charged. */
const affordable = (meter: Meter, price: number): number => Math.max(0, Math.floor(meter.left / price));

const outside = (name: string, at: number): CelError => new CelError(`${name}: ${at} is outside the text`);

export function charAt(meter: Meter, text: string, at: number): Value {
  if (!admitsPoints(meter, text)) return TOO_COMPLEX;
  const unit = unitAt(text, at);
  if (unit === undefined) return outside('charAt', at);
  const point = text.codePointAt(unit);
  return point === undefined ? '' : String.fromCodePoint(point);
}

export function substring(meter: Meter, text: string, from: number, to: number | undefined): Value {
  if (!admitsPoints(meter, text) || !admitsPoints(meter, text)) return TOO_COMPLEX;
  const start = unitAt(text, from);
  if (start === undefined) return outside('substring', from);
  const end = to === undefined ? text.length : unitAt(text, to);
  if (end === undefined || end < start) return outside('substring', to ?? from);
  return text.slice(start, end);
}

const admitsSearch = (meter: Meter, text: string, sought: string): boolean =>
  meter.spend(searchPrice(text.length, sought.length));

export function contains(meter: Meter, text: string, sought: string): Value {
  return admitsSearch(meter, text, sought) ? text.includes(sought) : TOO_COMPLEX;
}

export function indexOf(meter: Meter, text: string, sought: string, from: number): Value {
  if (!admitsSearch(meter, text, sought) || !admitsPoints(meter, text)) return TOO_COMPLEX;
  const unit = unitAt(text, from);
  return unit === undefined ? outside('indexOf', from) : pointAt(text, text.indexOf(sought, unit));
}

export function lastIndexOf(meter: Meter, text: string, sought: string, from: number | undefined): Value {
  if (!meter.spend(searchBackPrice(text.length, sought.length)) || !admitsPoints(meter, text)) return TOO_COMPLEX;
  const unit = from === undefined ? text.length : unitAt(text, from);
  return unit === undefined ? outside('lastIndexOf', from ?? 0) : pointAt(text, text.lastIndexOf(sought, unit));
}

/** A text of ASCII alone. JavaScript's own functions then change the same characters, a hundred times as fast. */
const ASCII = /^[\0-\x7f]*$/;

export function lowerAscii(meter: Meter, text: string): Value {
  if (!meter.text(text.length)) return TOO_COMPLEX;
  if (ASCII.test(text)) return text.toLowerCase();
  return meter.spend(text.length * TEXT_CUT) ? text.replace(/[A-Z]+/g, (run) => run.toLowerCase()) : TOO_COMPLEX;
}

export function upperAscii(meter: Meter, text: string): Value {
  if (!meter.text(text.length)) return TOO_COMPLEX;
  if (ASCII.test(text)) return text.toUpperCase();
  return meter.spend(text.length * TEXT_CUT) ? text.replace(/[a-z]+/g, (run) => run.toUpperCase()) : TOO_COMPLEX;
}

/** White space of Unicode, which `trim` removes. JavaScript's own `trim` also removes the byte order mark. */
const SPACE = new Set(
  '\t\n\v\f\r \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000',
);

export function trim(meter: Meter, text: string): Value {
  if (!meter.text(text.length)) return TOO_COMPLEX;
  // One more than is paid for is refused below.
  let left = affordable(meter, TEXT_CUT) + 1;
  let start = 0;
  let end = text.length;
  for (; left > 0 && start < end && SPACE.has(text.charAt(start)); left--) start++;
  for (; left > 0 && end > start && SPACE.has(text.charAt(end - 1)); left--) end--;
  return meter.spend((text.length - (end - start)) * TEXT_CUT) ? text.slice(start, end) : TOO_COMPLEX;
}

/**
 * Splits a text, and charges the budget. Undefined if it is refused. A text of more pieces than a list may hold, or
 * than the budget covers, is cut no further than that and charged for the pieces made. A refusal for its size therefore
 * leaves the rule budget for the next recipient.
 */
function cut(meter: Meter, text: string, separator: string): readonly string[] | undefined {
  if (!admitsSearch(meter, text, separator)) return undefined;
  const most = Math.min(MAX_LIST, affordable(meter, LIST_ELEMENT));
  const pieces = separator === '' ? pointsOf(meter, text, most) : text.split(separator, most + 1);
  if (pieces === undefined || !meter.spend(1 + pieces.length * LIST_ELEMENT)) return undefined;
  if (pieces.length <= MAX_LIST) return pieces;
  meter.refuse();
  return undefined;
}

/**
 * Returns the characters of a text, at least `most + 1` of them if there are more. Undefined if the text is refused: a character has at most two
 * units, so more than twice `MAX_LIST` units are too many characters.
 */
function pointsOf(meter: Meter, text: string, most: number): readonly string[] | undefined {
  if (!SURROGATE.test(text)) return text.split('', most + 1);
  if (text.length > MAX_LIST * 2) {
    meter.refuse();
    return undefined;
  }
  return meter.spend(text.length * TEXT_CUT) ? [...text] : undefined;
}

/** Splits a text into at most `limit` pieces, of which the last has the rest. All pieces if the limit is negative. */
export function split(meter: Meter, text: string, separator: string, limit: number): Value {
  if (limit === 0) return [];
  const pieces = cut(meter, text, separator);
  if (pieces === undefined) return TOO_COMPLEX;
  if (limit < 0 || pieces.length <= limit) return pieces;
  return [...pieces.slice(0, limit - 1), pieces.slice(limit - 1).join(separator)];
}

/** Replaces the first `limit` matches, or all if the limit is negative. An empty `sought` matches around each character. */
export function replace(meter: Meter, text: string, sought: string, by: string, limit: number): Value {
  const between = cut(meter, text, sought);
  if (between === undefined) return TOO_COMPLEX;
  const pieces = sought === '' ? ['', ...between, ''] : between;
  const count = limit < 0 ? pieces.length - 1 : Math.min(limit, pieces.length - 1);
  if (!meter.text(text.length + count * by.length)) return TOO_COMPLEX;
  return `${pieces.slice(0, count).join(by)}${count > 0 ? by : ''}${pieces.slice(count).join(sought)}`;
}

export function join(meter: Meter, list: readonly Value[], separator: string): Value {
  if (!meter.list(list.length)) return TOO_COMPLEX;
  const texts: string[] = [];
  let length = separator.length * list.length;
  for (const item of list) {
    if (typeof item !== 'string') return new CelError('join: every element must be text');
    length += item.length;
    texts.push(item);
  }
  return meter.text(length) ? texts.join(separator) : TOO_COMPLEX;
}
