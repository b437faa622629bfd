import type { Json, JsonObject } from '@carillon/kernel';
import { decodeUtf8, readJson } from './json-reader.ts';
import { EVENT_LIMITS, FORBIDDEN_NAMES, type JsonLimits } from './limits.ts';

const TAB = 0x09;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const DOT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const COLON = 0x3a;
const CAPITAL_E = 0x45;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const SMALL_E = 0x65;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const FIRST_BEYOND_ASCII = 0x80;

/** With at most this many digits a number is exact. */
const EXACT_DIGITS = 15;
/** Names of one object. Each name is compared with the names before it. */
const MAX_NAMES = 64;

/** 1 for each ASCII byte that stands for itself in a string. */
const IS_PLAIN = Uint8Array.from({ length: 256 }, (_, code) =>
  Number(code >= SPACE && code < FIRST_BEYOND_ASCII && code !== QUOTE && code !== BACKSLASH),
);

const encoder = new TextEncoder();
const WORDS = (
  [
    ['true', true],
    ['false', false],
    ['null', null],
  ] as const
).map(([word, value]) => ({ bytes: encoder.encode(word), value }));
/** By length, because they differ in it. */
const FORBIDDEN = new Map(FORBIDDEN_NAMES.map((name) => [name.length, encoder.encode(name)]));

const isDigit = (code: number): boolean => code >= ZERO && code <= NINE;

/** Returns true if the bytes at `at` are those of `text`. */
function isAt(bytes: Uint8Array, at: number, text: Uint8Array): boolean {
  for (let index = 0; index < text.length; index += 1) if (bytes[at + index] !== text[index]) return false;
  return true;
}

function areEqual(bytes: Uint8Array, a: number, b: number, length: number): boolean {
  for (let index = 0; index < length; index += 1) if (bytes[a + index] !== bytes[b + index]) return false;
  return true;
}

const wordAt = (bytes: Uint8Array, at: number) => WORDS.find((word) => isAt(bytes, at, word.bytes));

/** Reads the fields of an event that it was made for. */
export type FieldReader = (bytes: Uint8Array) => JsonObject | null;

/**
 * Makes a reader of the top-level fields with these names. It only checks the rest of an event, which takes about half as long as
 * `readEvent`. The fields that it returns are those that `readEvent` would return. Null for an event that `readEvent` refuses or
 * that only `readEvent` can judge: one with a backslash, a long number or an object of more than 64 fields.
 */
export function createFieldReader(names: readonly string[], limits: JsonLimits = EVENT_LIMITS): FieldReader {
  const scan = new FieldScan(names, limits);
  return (bytes) => {
    if (!scan.run(bytes)) return null;
    const text = decodeUtf8(bytes);
    if (text === undefined) return null;
    const fields = Object.create(null) as Record<string, Json>;
    for (const [index, name] of names.entries()) {
      const from = scan.starts[index] ?? 0;
      const to = scan.ends[index] ?? 0;
      if (from === to) continue;
      // A byte of ASCII text is a character.
      const scalar = scan.isAscii ? scalarAt(bytes, text, from, to) : undefined;
      if (scalar !== undefined) fields[name] = scalar;
      else {
        const read = readJson(bytes.subarray(from, to), limits);
        if (!read.ok) return null;
        fields[name] = read.value;
      }
    }
    return fields;
  };
}

/** Returns a scanned value. Undefined for an object or a list. */
function scalarAt(bytes: Uint8Array, text: string, from: number, to: number): Json | undefined {
  const code = bytes[from] ?? 0;
  if (code === QUOTE) return text.slice(from + 1, to - 1);
  if (code === MINUS || isDigit(code)) return Number(text.slice(from, to));
  return wordAt(bytes, from)?.value;
}

/** Scans events one after the other, and keeps where the values of the wanted fields are. */
class FieldScan {
  /** Where the value of each wanted field begins and ends. Equal if the event lacks the field. */
  readonly starts: Int32Array;
  readonly ends: Int32Array;
  readonly #wanted: readonly Uint8Array[];
  readonly #limits: JsonLimits;
  /** Where the names of the open objects begin, outermost object first, and how long they are. */
  readonly #names: Int32Array;
  readonly #lengths: Int32Array;
  #bytes: Uint8Array = new Uint8Array();
  #at = 0;
  #depth = 0;
  #keys = 0;
  #openNames = 0;
  #isAscii = true;

  constructor(names: readonly string[], limits: JsonLimits) {
    this.starts = new Int32Array(names.length);
    this.ends = new Int32Array(names.length);
    this.#wanted = names.map((name) => encoder.encode(name));
    this.#limits = limits;
    this.#names = new Int32Array(limits.depth * MAX_NAMES);
    this.#lengths = new Int32Array(limits.depth * MAX_NAMES);
  }

  get isAscii(): boolean {
    return this.#isAscii;
  }

  /** Returns true if `readEvent` accepts the bytes, provided that they are UTF-8. */
  run(bytes: Uint8Array): boolean {
    this.#bytes = bytes;
    this.#at = this.#depth = this.#keys = this.#openNames = 0;
    this.#isAscii = true;
    this.starts.fill(0);
    this.ends.fill(0);
    return this.#skipSpace() === OPEN_OBJECT && this.#skipObject() && (this.#skipSpace(), this.#at === bytes.length);
  }

  /** Moves to the next byte that is no white space and returns it, or 0 at the end. */
  #skipSpace(): number {
    const bytes = this.#bytes;
    let at = this.#at;
    let code = bytes[at] ?? 0;
    while (code <= SPACE && (code === SPACE || code === LINE_FEED || code === CARRIAGE_RETURN || code === TAB)) {
      code = bytes[++at] ?? 0;
    }
    this.#at = at;
    return code;
  }

  #skipValue(code: number): boolean {
    if (code === QUOTE) return this.#skipString();
    if (code === OPEN_OBJECT) return this.#skipObject();
    if (code === OPEN_LIST) return this.#skipList();
    return code === MINUS || isDigit(code) ? this.#skipNumber(code) : this.#skipWord();
  }

  #skipWord(): boolean {
    const word = wordAt(this.#bytes, this.#at);
    this.#at += word?.bytes.length ?? 0;
    return word !== undefined;
  }

  #skipString(): boolean {
    const bytes = this.#bytes;
    let at = this.#at + 1;
    for (;;) {
      let code = bytes[at] ?? 0;
      while (IS_PLAIN[code] === 1) code = bytes[++at] ?? 0;
      if (code === QUOTE) break;
      if (code < FIRST_BEYOND_ASCII) return false;
      this.#isAscii = false;
      at += 1;
    }
    this.#at = at + 1;
    return true;
  }

  #skipNumber(first: number): boolean {
    const bytes = this.#bytes;
    const start = first === MINUS ? this.#at + 1 : this.#at;
    let at = start;
    let code = bytes[at] ?? 0;
    while (isDigit(code)) code = bytes[++at] ?? 0;
    let digits = at - start;
    if (digits === 0 || (digits > 1 && bytes[start] === ZERO)) return false;
    if (code === DOT) {
      const dot = at;
      code = bytes[++at] ?? 0;
      while (isDigit(code)) code = bytes[++at] ?? 0;
      if (at - dot === 1) return false;
      digits += at - dot - 1;
    }
    this.#at = at;
    return digits <= EXACT_DIGITS && code !== SMALL_E && code !== CAPITAL_E;
  }

  #skipList(): boolean {
    if (++this.#depth > this.#limits.depth) return false;
    this.#at += 1;
    let code = this.#skipSpace();
    if (code === CLOSE_LIST) this.#at += 1;
    else {
      for (;;) {
        if (!this.#skipValue(code)) return false;
        code = this.#skipSpace();
        this.#at += 1;
        if (code === CLOSE_LIST) break;
        if (code !== COMMA) return false;
        code = this.#skipSpace();
      }
    }
    this.#depth -= 1;
    return true;
  }

  #skipObject(): boolean {
    if (++this.#depth > this.#limits.depth) return false;
    this.#at += 1;
    const firstName = this.#openNames;
    let code = this.#skipSpace();
    if (code === CLOSE_OBJECT) this.#at += 1;
    else {
      for (;;) {
        if (code !== QUOTE || ++this.#keys > this.#limits.keys) return false;
        const start = this.#at + 1;
        if (!this.#skipString()) return false;
        const length = this.#at - 1 - start;
        if (!this.#keepName(start, length, firstName)) return false;
        const wanted = this.#depth === 1 ? this.#wantedAt(start, length) : -1;
        if (this.#skipSpace() !== COLON) return false;
        this.#at += 1;
        const first = this.#skipSpace();
        if (wanted >= 0) this.starts[wanted] = this.#at;
        if (!this.#skipValue(first)) return false;
        if (wanted >= 0) this.ends[wanted] = this.#at;
        code = this.#skipSpace();
        this.#at += 1;
        if (code === CLOSE_OBJECT) break;
        if (code !== COMMA) return false;
        code = this.#skipSpace();
      }
    }
    this.#openNames = firstName;
    this.#depth -= 1;
    return true;
  }

  /** Keeps a name of the innermost object. Returns false if the object has the name already, or if `readEvent` may refuse it. */
  #keepName(start: number, length: number, firstName: number): boolean {
    const bytes = this.#bytes;
    const names = this.#names;
    const lengths = this.#lengths;
    const next = this.#openNames;
    if (next - firstName >= MAX_NAMES) return false;
    for (let index = firstName; index < next; index += 1) {
      if (lengths[index] === length && areEqual(bytes, names[index] ?? 0, start, length)) return false;
    }
    const forbidden = FORBIDDEN.get(length);
    if (forbidden && isAt(bytes, start, forbidden)) return false;
    names[next] = start;
    lengths[next] = length;
    this.#openNames = next + 1;
    return true;
  }

  #wantedAt(start: number, length: number): number {
    const wanted = this.#wanted;
    for (let index = 0; index < wanted.length; index += 1) {
      const name = wanted[index];
      if (name?.length === length && isAt(this.#bytes, start, name)) return index;
    }
    return -1;
  }
}
