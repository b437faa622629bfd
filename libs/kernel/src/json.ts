/**
 * What JSON can say, with integers beyond 2^53 (within 64 bits) kept exact as bigint (rules.md section 1).
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

/** Reads JSON text that we wrote ourselves. Integers beyond 2^53 come back as bigint. Throws SyntaxError on other text. */
export function parseJson(text: string): Json {
  // A look at each item takes five times as long.
  if (!LONG_NUMBER.test(text)) return JSON.parse(text) as Json;
  return JSON.parse(text, function (_name, item: unknown, context?: { source?: string }) {
    if (typeof item === 'number' && !Number.isSafeInteger(item) && context?.source !== undefined) {
      if (/^-?\d+$/.test(context.source)) return BigInt(context.source);
    }
    return item;
  }) as Json;
}
