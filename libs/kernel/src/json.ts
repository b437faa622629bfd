/**
 * What JSON can say, with integers beyond 2^53 (within 64 bits) kept exact as bigint (docs/rules.md).
 * Objects made by our parser have no prototype, so a field named `__proto__` or `constructor` is only a field.
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
    // It refuses a bigint. A look at each item takes three times as long, so only those that need it get one.
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
 * V8 13.6 compares a name in the text with one that it has seen in such a place, as far as that is long, and takes the
 * `\` of an escape for the name `\`: after `{"a":1,"\\":2}`, be it in another text, `{"a":1,"\n":2}` is read wrong. So names
 * with an escape are read as strings, which are read right, and stand-ins without any take their places.
 */
function parseWithEscapedNames(text: string): Json {
  // What is not JSON is refused before anything is looked for in it.
  JSON.parse(text);
  // One look at the text, however many strings in it begin like a stand-in: whoever wrote them may want to hold us up.
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
