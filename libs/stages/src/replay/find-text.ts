/** Returns true for a record whose value holds the text. The value is given as a string of its bytes: `latin1`. */
export type TextFinder = (bytes: string) => boolean;

/**
 * Makes a finder of texts in JSON, whatever their case. A character is found as UTF-8 and in each way in which JSON escapes it. Every value
 * with a string that holds one of the texts is found. In a value with a backslash, digits of an escape may be taken for text.
 */
export function createTextFinder(texts: readonly string[]): TextFinder {
  const tokens = texts.map(tokensOf);
  const plain = new RegExp(tokens.map((text) => text.map(plainPattern).join('')).join('|'));
  const escaped = new RegExp(tokens.map((text) => text.map(escapedPattern).join('')).join('|'));
  // The plain pattern is several times as fast, and most events have no backslash.
  return (bytes) => (bytes.includes('\\') ? escaped : plain).test(bytes);
}

/** What may stand for a character of a text: sequences of code points. */
type Token = readonly (readonly number[])[];

const [SMALL_I, DOT_ABOVE, CAPITAL_DOTTED_I] = [0x69, 0x307, 0x130];
const SIGMAS = [0x3a3, 0x3c3, 0x3c2];

function tokensOf(text: string): readonly Token[] {
  const points = [...text.toLowerCase()].map((character) => character.codePointAt(0) ?? 0);
  const tokens: Token[] = [];
  for (let at = 0; at < points.length; at += 1) {
    const point = points[at] ?? 0;
    const variants = variantsOf(point).map((variant) => [variant]);
    if (point === SMALL_I && points[at + 1] === DOT_ABOVE) {
      // The one capital letter whose small form is two characters.
      const dots = variantsOf(DOT_ABOVE);
      tokens.push([...variants.flatMap((first) => dots.map((dot) => [...first, dot])), [CAPITAL_DOTTED_I]]);
      at += 1;
    } else {
      const isHalf = (point === SMALL_I && at === points.length - 1) || (point === DOT_ABOVE && at === 0);
      tokens.push(isHalf ? [...variants, [CAPITAL_DOTTED_I]] : variants);
    }
  }
  return tokens;
}

/** The last code point that has a case lies far below. */
const LAST_CASED = 0x1ffff;
let capitals: ReadonlyMap<string, readonly number[]> | null = null;

/** Returns the code points whose small form is this one, itself among them. */
function variantsOf(point: number): readonly number[] {
  capitals ??= readCapitals();
  if (SIGMAS.includes(point)) return SIGMAS;
  return [point, ...(capitals.get(String.fromCodePoint(point)) ?? [])];
}

function readCapitals(): ReadonlyMap<string, readonly number[]> {
  const found = new Map<string, number[]>();
  for (let point = 0; point <= LAST_CASED; point += 1) {
    const character = String.fromCodePoint(point);
    const small = character.toLowerCase();
    if (small === character) continue;
    const known = found.get(small);
    if (known) known.push(point);
    else found.set(small, [point]);
  }
  return found;
}

const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, '0');
const group = (alternatives: readonly string[]): string =>
  alternatives.length === 1 ? (alternatives[0] ?? '') : `(?:${alternatives.join('|')})`;

const encoder = new TextEncoder();
const bytesOf = (point: number): string =>
  [...encoder.encode(String.fromCodePoint(point))].map((byte) => `\\x${hex(byte, 2)}`).join('');

const [QUOTE, BACKSLASH, FIRST_PRINTABLE] = [0x22, 0x5c, 0x20];
/** JSON has to escape these within a string. */
const isEscapedAlways = (point: number): boolean => point === QUOTE || point === BACKSLASH || point < FIRST_PRINTABLE;

/** A pattern without a match. */
const NEVER = '(?!)';

function plainPattern(token: Token): string {
  const sequences = token.filter((points) => !points.some(isEscapedAlways));
  if (sequences.length === 0) return NEVER;
  const patterns = sequences.map((points) => points.map(bytesOf).join(''));
  // A class of single bytes is faster than alternatives.
  const isOfBytes = patterns.every((pattern) => pattern.length === '\\x00'.length);
  return isOfBytes ? `[${patterns.join('')}]` : group(patterns);
}

const escapedPattern = (token: Token): string =>
  group(token.map((points) => points.map((point) => group(formsOf(point))).join('')));

const SHORT_ESCAPES: ReadonlyMap<number, string> = new Map(
  ['"', '\\', '/']
    .map((character) => [character.codePointAt(0) ?? 0, character] as const)
    .concat([
      [0x08, 'b'],
      [0x0c, 'f'],
      [0x0a, 'n'],
      [0x0d, 'r'],
      [0x09, 't'],
    ]),
);

/** Returns every form in which JSON may write a code point, as patterns. */
function formsOf(point: number): readonly string[] {
  const short = SHORT_ESCAPES.get(point);
  return [
    ...(isEscapedAlways(point) ? [] : [bytesOf(point)]),
    ...(short === undefined ? [] : [`\\\\${bytesOf(short.codePointAt(0) ?? 0)}`]),
    unitsOf(point).map(unitPattern).join(''),
  ];
}

function unitsOf(point: number): readonly number[] {
  const character = String.fromCodePoint(point);
  return Array.from({ length: character.length }, (_, at) => character.charCodeAt(at));
}

/** The escape `\uXXXX` of a UTF-16 unit, with digits of either case. */
const unitPattern = (unit: number): string =>
  `\\\\u${[...hex(unit, 4)].map((digit) => (/\d/.test(digit) ? digit : `[${digit}${digit.toUpperCase()}]`)).join('')}`;
