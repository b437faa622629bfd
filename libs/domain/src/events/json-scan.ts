const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Text up to this length is gone through byte by byte: asking the runtime for the next quote would take longer. */
const SHORT = 16;

/** Returns the position of the quote that ends a string; if it never ends, the end of the text or one behind it. */
export function endOfString(bytes: Uint8Array, from: number): number {
  let at = from;
  const short = Math.min(bytes.length, from + SHORT);
  while (at < short && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  if (at < short || at >= bytes.length) return at;
  const quote = bytes.indexOf(QUOTE, at);
  const end = quote === -1 ? bytes.length : quote;
  const escape = bytes.subarray(at, end).indexOf(BACKSLASH);
  if (escape === -1) return end;
  // After the first backslash, a quote may belong to the text.
  at += escape;
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return at;
}

/** Part of a text: its first byte, and the byte behind its last one. */
export type Span = { readonly from: number; readonly to: number };

/**
 * Returns the span of a field's value in the outermost object, or null. Names are compared as written. The text need
 * not be valid JSON. It is valid if it would be valid with another value in the span, and the span is a valid value.
 */
export function spanOfField(bytes: Uint8Array, name: string): Span | null {
  let at = skipSpace(bytes, 0);
  if (bytes[at] !== OPEN_OBJECT) return null;
  for (;;) {
    const key = skipSpace(bytes, at + 1);
    if (bytes[key] !== QUOTE) return null;
    const keyEnd = endOfString(bytes, key + 1);
    const colon = skipSpace(bytes, keyEnd + 1);
    if (bytes[colon] !== COLON) return null;
    const from = skipSpace(bytes, colon + 1);
    at = endOfValue(bytes, from);
    if (isName(bytes.subarray(key + 1, keyEnd), name)) return { from, to: withoutSpace(bytes, from, at) };
    if (bytes[at] !== COMMA) return null;
  }
}

function skipSpace(bytes: Uint8Array, from: number): number {
  let at = from;
  while (isSpace(bytes[at])) at += 1;
  return at;
}

function withoutSpace(bytes: Uint8Array, from: number, to: number): number {
  let end = to;
  while (end > from && isSpace(bytes[end - 1])) end -= 1;
  return end;
}

/** Returns the position of the comma or bracket behind a value, or the end of the text. */
function endOfValue(bytes: Uint8Array, from: number): number {
  let depth = 0;
  for (let at = from; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) at = endOfString(bytes, at + 1);
    else if (byte === OPEN_OBJECT || byte === OPEN_LIST) depth += 1;
    else if (byte === COMMA && depth === 0) return at;
    else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) {
      if (depth === 0) return at;
      depth -= 1;
    }
  }
  return bytes.length;
}

const isSpace = (byte: number | undefined): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

const isName = (bytes: Uint8Array, name: string): boolean =>
  bytes.length === name.length && bytes.every((byte, at) => byte === name.charCodeAt(at));
