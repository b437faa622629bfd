import { endOfString } from './json-scan.ts';

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_LIST = 0x5b;
const OPEN_OBJECT = 0x7b;

/** Estimated bytes of a parsed value in memory. */
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
