import type { Json } from '@carillon/kernel';
import type { JsonLimits } from './limits.ts';
import {
  expectedPlace,
  expectNext,
  firstUnder,
  hashOf,
  MAX_LOOKUPS,
  nameAt,
  placeOfName,
  type Before,
} from './json-reader-names.ts';
import { exactNumber, readDouble, readInteger } from './json-reader-numbers.ts';

const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const DOT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const CAPITAL_E = 0x45;
const SMALL_E = 0x65;
/** Byte returned after the end. */
const END = -1;

const WORDS: readonly (readonly [string, Json])[] = [
  ['true', true],
  ['false', false],
  ['null', null],
];
/** With so many digits an integer is below 2^53. */
const EXACT_DIGITS = 15;
const POWERS_OF_TEN = Float64Array.from({ length: EXACT_DIGITS + 1 }, (_, exponent) => 10 ** exponent);
const NUMBER = /^-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;

const isDigit = (code: number): boolean => code >= ZERO && code <= NINE;

/** The same byte four times. */
const four = (byte: number): number => Math.imul(byte, 0x01_01_01_01);
const HIGHEST_BITS = four(0x80);
const ONES = four(0x01);
const SPACES = four(SPACE);
const BACKSLASHES = four(0x5c);

/**
 * Returns true if the bytes are ASCII without backslashes, control characters and line breaks. A string then ends at
 * the next quote, and each byte is a character. Checks four bytes at a time, which takes a third of the time.
 */
function isPlain(bytes: Uint8Array): boolean {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const whole = bytes.length - (bytes.length % 4);
  for (let at = 0; at < whole; at += 4) {
    const word = view.getInt32(at);
    // The highest bit of a byte below 0x80 is set by taking 0x20 from less than that, and by taking 1 from 0.
    const marks = word | (word - SPACES) | ((word ^ BACKSLASHES) - ONES);
    if ((marks & HIGHEST_BITS) !== 0) return false;
  }
  for (let at = whole; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte < SPACE || byte === 0x5c || byte >= 0x80) return false;
  }
  return true;
}

/**
 * Reads compact ASCII JSON, which most programs send, in two thirds of the general reader's time, with an equal result.
 * Undefined if the text is of another kind or has a fault; the general reader then decides. `text` is the text of
 * `bytes`.
 */
export function readPlain(bytes: Uint8Array, text: string, limits: JsonLimits): Json | undefined {
  return isPlain(bytes) ? new PlainReader(bytes, text, limits).read() : undefined;
}

/** Structure and digits come from the bytes, which cost a third of characters; strings are cut out of the text. */
class PlainReader {
  readonly #bytes: Uint8Array;
  readonly #text: string;
  readonly #limits: JsonLimits;
  #at = 0;
  #depth = 0;
  #keys = 0;
  #lookups = 0;

  constructor(bytes: Uint8Array, text: string, limits: JsonLimits) {
    this.#bytes = bytes;
    this.#text = text;
    this.#limits = limits;
  }

  read(): Json | undefined {
    const value = this.#value(this.#skipSpace(), firstUnder(0));
    return this.#skipSpace() === END ? value : undefined;
  }

  /** Moves to the next byte that is no space, and gives it. */
  #skipSpace(): number {
    const bytes = this.#bytes;
    let at = this.#at;
    let code = bytes[at] ?? END;
    while (code === SPACE) code = bytes[++at] ?? END;
    this.#at = at;
    return code;
  }

  /** `first`: what comes before the first name, if the value is an object or a list of them. */
  #value(code: number, first: Before): Json | undefined {
    if (code === QUOTE) return this.#string();
    if (code === OPEN_OBJECT) return this.#object(first);
    if (code === OPEN_LIST) return this.#list(first);
    return code === MINUS || isDigit(code) ? this.#number(code) : this.#word();
  }

  #word(): Json | undefined {
    const found = WORDS.find(([word]) => this.#text.startsWith(word, this.#at));
    if (!found) return undefined;
    this.#at += found[0].length;
    return found[1];
  }

  #string(): string | undefined {
    const start = this.#at + 1;
    const end = this.#text.indexOf('"', start);
    if (end < 0) return undefined;
    this.#at = end + 1;
    return this.#text.slice(start, end);
  }

  #list(first: Before): Json[] | undefined {
    if (++this.#depth > this.#limits.depth) return undefined;
    this.#at += 1;
    const items: Json[] = [];
    let code = this.#skipSpace();
    if (code === CLOSE_LIST) this.#at += 1;
    else {
      for (;;) {
        const item = this.#value(code, first);
        if (item === undefined) return undefined;
        items.push(item);
        code = this.#skipSpace();
        this.#at += 1;
        if (code === CLOSE_LIST) break;
        if (code !== COMMA) return undefined;
        code = this.#skipSpace();
      }
    }
    this.#depth -= 1;
    return items;
  }

  #object(first: Before): Json | undefined {
    if (++this.#depth > this.#limits.depth) return undefined;
    this.#at += 1;
    const body = Object.create(null) as Record<string, Json>;
    let before = first;
    let seen = 0;
    let code = this.#skipSpace();
    if (code === CLOSE_OBJECT) this.#at += 1;
    else {
      for (;;) {
        if (code !== QUOTE || ++this.#keys > this.#limits.keys) return undefined;
        const start = this.#at + 1;
        const place = this.#place(start, before);
        const name = place < 0 ? this.#string() : nameAt(place);
        if (name === undefined || name === '__proto__' || name === 'constructor') return undefined;
        // A name with a place has the same bit each time: most are seen to be new without asking the object.
        const bit = 1 << (place & 31);
        if ((place < 0 || (seen & bit) !== 0) && body[name] !== undefined) return undefined;
        seen |= bit;
        this.#at = start + name.length + 1;
        if (this.#skipSpace() !== COLON) return undefined;
        this.#at += 1;
        const value = this.#value(this.#skipSpace(), place < 0 ? first : firstUnder(place));
        if (value === undefined) return undefined;
        body[name] = value;
        if (place >= 0) before = place;
        code = this.#skipSpace();
        this.#at += 1;
        if (code === CLOSE_OBJECT) break;
        if (code !== COMMA) return undefined;
        code = this.#skipSpace();
      }
    }
    this.#depth -= 1;
    return body;
  }

  /** Returns the slot of the name that begins at `start`, or -1. */
  #place(start: number, before: Before): number {
    if (this.#lookups >= MAX_LOOKUPS) return -1;
    const expected = expectedPlace(this.#text, start, before);
    if (expected >= 0) return expected;
    this.#lookups += 1;
    const bytes = this.#bytes;
    let hash = 0;
    let end = start;
    for (let code = bytes[end] ?? QUOTE; code !== QUOTE; code = bytes[++end] ?? QUOTE) hash = hashOf(hash, code);
    if (end >= bytes.length) return -1;
    const place = placeOfName(this.#text, start, end, hash);
    if (place >= 0) expectNext(before, place);
    return place;
  }

  #number(first: number): number | bigint | string | undefined {
    const bytes = this.#bytes;
    const start = this.#at;
    const digitsAt = first === MINUS ? start + 1 : start;
    let at = digitsAt;
    let sum = 0;
    let code = bytes[at] ?? END;
    for (; isDigit(code); code = bytes[++at] ?? END) sum = sum * 10 + (code - ZERO);
    let digits = at - digitsAt;
    if (digits === 0 || (digits > 1 && bytes[digitsAt] === ZERO)) return undefined;
    let fraction = 0;
    if (code === DOT) {
      const dot = at;
      for (code = bytes[++at] ?? END; isDigit(code); code = bytes[++at] ?? END) sum = sum * 10 + (code - ZERO);
      fraction = at - dot - 1;
      if (fraction === 0) return undefined;
      digits += fraction;
    }
    if (digits > EXACT_DIGITS || code === SMALL_E || code === CAPITAL_E) return this.#longNumber(at);
    this.#at = at;
    // Both numbers are exact, so the quotient is the double nearest to the number.
    if (fraction > 0) sum /= POWERS_OF_TEN[fraction] ?? Number.NaN;
    return first === MINUS ? -sum : sum;
  }

  /** A number too long to be summed up, of which `at` is not the beginning. */
  #longNumber(at: number): number | bigint | string | undefined {
    const bytes = this.#bytes;
    const start = this.#at;
    let end = at;
    for (let code = bytes[end] ?? END; ; code = bytes[++end] ?? END) {
      const goesOn = isDigit(code) || code === SMALL_E || code === CAPITAL_E || code === MINUS || code === 0x2b;
      if (!goesOn) break;
    }
    const source = this.#text.slice(start, end);
    const parts = NUMBER.exec(source);
    if (!parts) return undefined;
    this.#at = end;
    if (this.#limits.exactNumbers === true) return this.#exact(source);
    const isWhole = parts[1] === undefined && parts[2] === undefined;
    return isWhole ? readInteger(source) : readDouble(source);
  }

  #exact(source: string): number | bigint | string {
    const value = exactNumber(source);
    if (typeof value === 'string') this.#limits.numberTexts?.add(value);
    return value;
  }
}
