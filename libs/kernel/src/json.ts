/**
 * A JSON value, with integers beyond 2^53 (within 64 bits) exact as bigint (docs/expressions.md). Objects of our parser
 * have no prototype, so a field named `__proto__` or `constructor` is an ordinary field.
 */
export type Json = null | boolean | number | bigint | string | readonly Json[] | JsonObject;
export type JsonObject = { readonly [name: string]: Json };

declare global {
  interface JSON {
    /** ECMAScript proposal, in Node 24: a value that JSON.stringify writes as the text given. */
    rawJSON(text: string): unknown;
  }
}

export const isJsonObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** JSON text of a value that may hold bigints: they are written as the integers that they are. */
export function stringifyJson(value: Json): string {
  try {
    return JSON.stringify(value);
  } catch {
    // JSON.stringify refused a bigint. A replacer takes three times as long, so only values that need it get one.
    return JSON.stringify(value, (_name, item: unknown) =>
      typeof item === 'bigint' ? JSON.rawJSON(item.toString()) : item,
    );
  }
}

/** Without so many digits in a row no integer is beyond 2^53. */
const LONG_NUMBER = /\d{16}/;

/** Without such a string behind an opening brace or a comma no name has an escape; an item of an array may look like one. */
const ESCAPED_NAME = /[{,]\s*"[^"\\]*\\/;

/** Reads JSON text that we wrote ourselves. Integers beyond 2^53 come back as bigint. Throws SyntaxError on other text. */
export function parseJson(text: string): Json {
  // A look at each item takes five times as long.
  if (text.includes('\\') && ESCAPED_NAME.test(text)) return parseWithEscapedNames(text);
  if (!LONG_NUMBER.test(text)) return JSON.parse(text) as Json;
  return JSON.parse(text, withBigints) as Json;
}

function withBigints(_name: string, item: unknown, context?: { source?: string }): unknown {
  if (typeof item === 'number' && !Number.isSafeInteger(item) && context?.source !== undefined) {
    if (/^-?\d+$/.test(context.source)) return BigInt(context.source);
  }
  return item;
}

const STRING = /"(?:[^"\\]|\\.)*"(\s*:)?/g;

/**
 * Parses JSON with escaped names. V8 13.6 compares a name with one cached for its position and takes the `\` of an
 * escape for the name `\`: after `{"a":1,"\\":2}`, even in another text, it misreads `{"a":1,"\n":2}`. Names with an
 * escape are therefore replaced by stand-ins without one and parsed as strings, which V8 reads correctly.
 */
function parseWithEscapedNames(text: string): Json {
  // Invalid JSON is refused before anything is searched in it.
  JSON.parse(text);
  // A single scan, because a hostile text may have many strings that resemble a stand-in.
  const longest = text.match(/"@+/g)?.reduce((most, { length }) => Math.max(most, length), 1) ?? 1;
  const standIn = '@'.repeat(longest);
  const names: string[] = [];
  const plain = text.replace(STRING, (string, colon?: string) => {
    if (colon === undefined || !string.includes('\\')) return string;
    names.push(JSON.parse(string.slice(0, -colon.length)) as string);
    return `"${standIn}${names.length - 1}":`;
  });
  const nameOf = (found: string): string =>
    found.startsWith(standIn) ? (names[Number(found.slice(standIn.length))] ?? found) : found;
  return JSON.parse(plain, function (name, item: unknown, context?: { source?: string }) {
    if (typeof item !== 'object' || item === null || Array.isArray(item)) return withBigints(name, item, context);
    return Object.fromEntries(Object.entries(item).map(([found, value]) => [nameOf(found), value]));
  }) as Json;
}
