const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const OPEN_OBJECT = 0x7b;

/** What a value takes in memory once it has been read, about. */
export const JSON_VALUE_BYTES = 200;

/**
 * How many values JSON text makes, before it is read: fields, items of lists, and empty objects and lists once more.
 * What a reader does and keeps goes by these, not by bytes. Of text that is no JSON, at least as many as a reader meets.
 */
export function countJsonValues(bytes: Uint8Array): number {
  let values = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === COMMA || byte === OPEN_LIST || byte === OPEN_OBJECT) values += 1;
    else if (byte === QUOTE) at = endOfString(bytes, at + 1);
  }
  return values;
}

/** Text up to this length is gone through byte by byte: asking the runtime for the next quote would take longer. */
const SHORT = 16;

/** Where the quote stands that ends a string; where none does, the end of the text or one behind it. */
function endOfString(bytes: Uint8Array, from: number): number {
  let at = from;
  const short = Math.min(bytes.length, from + SHORT);
  while (at < short && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  if (at < short || at >= bytes.length) return at;
  const quote = bytes.indexOf(QUOTE, at);
  const end = quote === -1 ? bytes.length : quote;
  const escape = bytes.subarray(at, end).indexOf(BACKSLASH);
  if (escape === -1) return end;
  // From the first backslash on, a quote may belong to the text.
  at += escape;
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return at;
}
