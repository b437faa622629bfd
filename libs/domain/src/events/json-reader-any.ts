import { err, isJsonObject, ok, type Json, type JsonObject, type Result } from '@carillon/kernel';
import { placeOf, type JsonFault, type JsonFaultCode } from './json-reader-fault.ts';
import { FORBIDDEN_NAMES, type JsonLimits } from './limits.ts';
import { expectedPlace, expectNext, hashOf, MAX_LOOKUPS, nameAt, placeOfName } from './json-reader-names.ts';
import { exactNumber, INT64_RANGE, readDouble, readInteger } from './json-reader-numbers.ts';
import { pointerTo } from './json-reader-path.ts';

const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const ZERO = 0x30;
const DOT = 0x2e;

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['"', '"'],
  ['\\', '\\'],
  ['/', '/'],
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
]);

/** Reads JSON text of any form, and says of what it refuses why, and where. */
export const readAnyText = (text: string, limits: JsonLimits): Result<Json, JsonFault> =>
  readWith(text, limits, (reader) => reader.readDocument());

/** Reads text that must be a JSON object. */
export const readAnyObject = (text: string, limits: JsonLimits): Result<JsonObject, JsonFault> =>
  readWith(text, limits, (reader) => reader.readObject());

function readWith<T>(text: string, limits: JsonLimits, read: (reader: Reader) => T): Result<T, JsonFault> {
  const reader = new Reader(text, limits);
  try {
    return ok(read(reader));
  } catch (stop) {
    if (stop === reader && reader.fault) return err(reader.fault);
    throw stop;
  }
}

const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39;

/**
 * Reads one text in one pass. A fault is stored in `fault` and the reader itself is thrown, so that hostile input costs
 * no stack trace.
 */
class Reader {
  fault: JsonFault | undefined;
  readonly #text: string;
  readonly #limits: JsonLimits;
  /** Names and indexes from the root. The first `#depth` of them lead to the value that is being read; the others are left over from earlier values. */
  readonly #path: (string | number)[] = [];
  /** The place of the name that was read last. */
  #latest = 0;
  #lookups = 0;
  #at = 0;
  #depth = 0;
  #keys = 0;

  constructor(text: string, limits: JsonLimits) {
    this.#text = text;
    this.#limits = limits;
  }

  readDocument(): Json {
    if (this.#text.charCodeAt(0) === 0xfeff)
      this.#fail('invalid_json', 'The body begins with a byte order mark. Send it without.');
    const value = this.#value(this.#skipSpace());
    if (!Number.isNaN(this.#skipSpace()))
      this.#fail('invalid_json', 'There is more after the end of the object. Send one object in each request.');
    return value;
  }

  readObject(): JsonObject {
    const value = this.readDocument();
    if (isJsonObject(value)) return value;
    this.#at = 0;
    this.#skipSpace();
    return this.#fail(
      'not_an_object',
      'The body is valid JSON but not an object. Send one object, such as {"status":"paid"}.',
      [],
    );
  }

  /** Moves to the next character that is not white space and returns its code; NaN at the end. */
  #skipSpace(): number {
    const text = this.#text;
    let at = this.#at;
    let code = text.charCodeAt(at);
    while (code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09) code = text.charCodeAt(++at);
    this.#at = at;
    return code;
  }

  #value(code: number): Json {
    switch (code) {
      case QUOTE:
        return this.#string();
      case OPEN_OBJECT:
        return this.#object();
      case OPEN_LIST:
        return this.#list();
      case 0x74:
        return this.#word('true', true);
      case 0x66:
        return this.#word('false', false);
      case 0x6e:
        return this.#word('null', null);
      default:
        if (code === MINUS || isDigit(code)) return this.#number(code);
        return this.#unexpected('a value');
    }
  }

  #word<T extends Json>(word: string, value: T): T {
    if (!this.#text.startsWith(word, this.#at)) this.#unexpected('a value');
    this.#at += word.length;
    return value;
  }

  #enter(): void {
    if (++this.#depth > this.#limits.depth) {
      this.#fail(
        'too_deep',
        `Objects and lists may be nested ${this.#limits.depth} deep. Send a flatter event.`,
        this.#path.slice(0, this.#depth - 1),
      );
    }
    this.#at += 1;
  }

  #list(): Json[] {
    this.#enter();
    const path = this.#path;
    const step = this.#depth - 1;
    const items: Json[] = [];
    let code = this.#skipSpace();
    if (code === CLOSE_LIST) this.#at += 1;
    else {
      for (;;) {
        path[step] = items.length;
        items.push(this.#value(code));
        code = this.#skipSpace();
        this.#at += 1;
        if (code === CLOSE_LIST) break;
        if (code !== COMMA) this.#unexpectedBefore('a comma or the end of the list');
        code = this.#skipSpace();
      }
    }
    this.#depth -= 1;
    return items;
  }

  #object(): JsonObject {
    this.#enter();
    const path = this.#path;
    const step = this.#depth - 1;
    const body = Object.create(null) as Record<string, Json>;
    let code = this.#skipSpace();
    if (code === CLOSE_OBJECT) this.#at += 1;
    else {
      for (;;) {
        const key = this.#key(code, body);
        path[step] = key;
        if (this.#skipSpace() !== COLON) this.#unexpected('a colon');
        this.#at += 1;
        body[key] = this.#value(this.#skipSpace());
        code = this.#skipSpace();
        this.#at += 1;
        if (code === CLOSE_OBJECT) break;
        if (code !== COMMA) this.#unexpectedBefore('a comma or the end of the object');
        code = this.#skipSpace();
      }
    }
    this.#depth -= 1;
    return body;
  }

  #key(code: number, body: Readonly<Record<string, Json>>): string {
    if (code !== QUOTE) this.#unexpected('a field name in double quotes');
    const start = this.#at;
    const key = this.#name();
    const refuse = (why: JsonFaultCode, detail: string): never => {
      this.#at = start;
      return this.#fail(why, detail, this.#path.slice(0, this.#depth - 1).concat(key));
    };
    if (++this.#keys > this.#limits.keys)
      refuse('too_many_keys', `An event may have ${this.#limits.keys} fields in all its objects together.`);
    if (FORBIDDEN_NAMES.includes(key) && this.#limits.anyName !== true)
      refuse('forbidden_key', 'Fields may not be named __proto__ or constructor. Rename the field.');
    if (key in body) refuse('duplicate_key', 'This object names the same field twice. Send each field once.');
    return key;
  }

  /** A string that names a field: most were seen before, and taking the known one spares making it (json-reader-names.ts). */
  #name(): string {
    const text = this.#text;
    const start = this.#at + 1;
    const expected = expectedPlace(text, start, this.#latest);
    if (expected >= 0) {
      const name = nameAt(expected);
      this.#latest = expected;
      this.#at = start + name.length + 1;
      return name;
    }
    this.#lookups += 1;
    if (this.#lookups > MAX_LOOKUPS) return this.#string();
    let at = start;
    let hash = 0;
    for (;;) {
      const code = text.charCodeAt(at);
      if (code === QUOTE) break;
      if (code === BACKSLASH || !(code >= 0x20)) return this.#string();
      hash = hashOf(hash, code);
      at += 1;
    }
    this.#at = at + 1;
    const place = placeOfName(text, start, at, hash);
    if (place < 0) return text.slice(start, at);
    expectNext(this.#latest, place);
    this.#latest = place;
    return nameAt(place);
  }

  #string(): string {
    const text = this.#text;
    const start = this.#at + 1;
    let at = start;
    for (;;) {
      const code = text.charCodeAt(at);
      if (code === QUOTE) break;
      if (code === BACKSLASH) return this.#escapedString(start, at);
      // Also true at the end, where the code is NaN.
      if (!(code >= 0x20)) this.#badCharacter(at);
      at += 1;
    }
    this.#at = at + 1;
    return text.slice(start, at);
  }

  /** Goes on with a string in which the first escape stands at `at`. */
  #escapedString(start: number, at: number): string {
    const text = this.#text;
    let value = text.slice(start, at);
    let from = at;
    for (;;) {
      const code = text.charCodeAt(at);
      if (code === QUOTE) break;
      if (code === BACKSLASH) {
        value += text.slice(from, at) + this.#escape(at);
        from = at = this.#at;
        continue;
      }
      if (!(code >= 0x20)) this.#badCharacter(at);
      at += 1;
    }
    value += text.slice(from, at);
    this.#at = start - 1;
    // Read together, because halves of a pair may come one by one.
    if (!value.isWellFormed())
      this.#fail('invalid_json', 'An escape names half a character (a lone surrogate). Send whole characters.');
    this.#at = at + 1;
    return value;
  }

  /** Returns the character of the escape at `at`, and moves after the escape. */
  #escape(at: number): string {
    const text = this.#text;
    const letter = text.charAt(at + 1);
    if (letter === 'u') {
      const digits = text.slice(at + 2, at + 6);
      this.#at = at;
      if (!/^[0-9a-fA-F]{4}$/.test(digits))
        this.#fail('invalid_json', 'After \\u four hexadecimal digits have to follow.');
      this.#at = at + 6;
      return String.fromCharCode(Number.parseInt(digits, 16));
    }
    const plain = ESCAPES.get(letter);
    this.#at = at;
    if (plain === undefined)
      return this.#fail('invalid_json', 'A backslash precedes a character that it cannot escape.');
    this.#at = at + 2;
    return plain;
  }

  #badCharacter(at: number): never {
    this.#at = at;
    if (at >= this.#text.length) return this.#unexpected('the end of a string');
    return this.#fail('invalid_json', 'A string contains a control character. Escape it, such as \\n.');
  }

  #number(first: number): number | bigint | string {
    const text = this.#text;
    const start = this.#at;
    let at = first === MINUS ? start + 1 : start;
    let code = text.charCodeAt(at);
    if (code === ZERO) code = text.charCodeAt(++at);
    else {
      if (!isDigit(code)) this.#unexpectedAt(at, 'a digit');
      // Small integers, which most numbers are, are summed up on the way.
      let sum = 0;
      const digits = at;
      do {
        sum = sum * 10 + (code - ZERO);
        code = text.charCodeAt(++at);
      } while (isDigit(code));
      if (at - digits <= 15 && code !== DOT && code !== 0x65 && code !== 0x45) {
        this.#at = at;
        return first === MINUS ? -sum : sum;
      }
    }
    let whole = true;
    if (code === DOT) {
      whole = false;
      at = this.#digits(at + 1);
      code = text.charCodeAt(at);
    }
    if (code === 0x65 || code === 0x45) {
      whole = false;
      const sign = text.charCodeAt(at + 1);
      at = this.#digits(sign === 0x2b || sign === MINUS ? at + 2 : at + 1);
    }
    this.#at = at;
    if (this.#limits.exactNumbers === true) return this.#exact(text.slice(start, at));
    return whole ? this.#integer(start, at) : this.#double(start, at);
  }

  #exact(source: string): number | bigint | string {
    const value = exactNumber(source);
    if (typeof value === 'string') this.#limits.numberTexts?.add(value);
    return value;
  }

  /** The end of a run of at least one digit. */
  #digits(from: number): number {
    let at = from;
    while (isDigit(this.#text.charCodeAt(at))) at += 1;
    return at === from ? this.#unexpectedAt(at, 'a digit') : at;
  }

  #integer(start: number, end: number): number | bigint {
    const value = readInteger(this.#text.slice(start, end));
    if (value !== undefined) return value;
    this.#at = start;
    return this.#fail('number_out_of_range', `Integers may be ${INT64_RANGE}. Send larger ones as text.`, this.#here());
  }

  #double(start: number, end: number): number {
    const value = readDouble(this.#text.slice(start, end));
    if (value !== undefined) return value;
    this.#at = start;
    return this.#fail('number_out_of_range', 'The number is beyond a 64-bit double. Send it as text.', this.#here());
  }

  #unexpectedAt(at: number, wanted: string): never {
    this.#at = at;
    return this.#unexpected(wanted);
  }

  #unexpectedBefore(wanted: string): never {
    return this.#unexpectedAt(this.#at - 1, wanted);
  }

  #unexpected(wanted: string): never {
    const found = this.#at >= this.#text.length ? 'the body ended' : 'something else is here';
    return this.#fail('invalid_json', `Expected ${wanted}, but ${found}.`);
  }

  #here(): (string | number)[] {
    return this.#path.slice(0, this.#depth);
  }

  #fail(code: JsonFaultCode, detail: string, path?: readonly (string | number)[]): never {
    const pointer = path && pointerTo(path);
    this.fault = { code, detail, ...(pointer !== undefined && { pointer }), ...placeOf(this.#text, this.#at) };
    // oxlint-disable-next-line typescript/only-throw-error -- caught in readWith; an Error would cost a stack
    throw this;
  }
}
