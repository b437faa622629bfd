import { err, isJsonObject, ok, type Json, type JsonObject, type Result } from '@carillon/kernel';
import type { JsonFault } from './json-reader-fault.ts';
import { EVENT_LIMITS, type JsonLimits } from './limits.ts';
import { readAnyObject, readAnyText } from './json-reader-any.ts';
import { readPlain } from './json-reader-plain.ts';

/**
 * Reads one event. Stricter than JSON.parse, because what two readers of the same bytes understand differently is a way
 * around rules: a field named twice, a number that doubles cannot hold, a name that means something to JavaScript,
 * half a character are refused. Objects come without a prototype. Integers that doubles cannot hold are bigint.
 */
export function readEvent(
  bytes: Uint8Array,
  limits: JsonLimits = EVENT_LIMITS,
): Result<{ readonly body: JsonObject }, JsonFault> {
  const text = decodeUtf8(bytes);
  if (text === undefined) return err(NOT_UTF8);
  const plain = readPlain(bytes, text, limits);
  if (isJsonObject(plain)) return ok({ body: plain });
  const read = readAnyObject(text, limits);
  return read.ok ? ok({ body: read.value }) : read;
}

/** Reads any JSON text with the same strictness: what partners answer. */
export function readJson(bytes: Uint8Array, limits: JsonLimits): Result<Json, JsonFault> {
  const text = decodeUtf8(bytes);
  if (text === undefined) return err(NOT_UTF8);
  const plain = readPlain(bytes, text, limits);
  return plain === undefined ? readAnyText(text, limits) : ok(plain);
}

/** Keeps the byte order mark in the text, so that it is seen and refused. */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const NOT_UTF8: JsonFault = {
  code: 'invalid_json',
  detail: 'The body is not UTF-8. Send it as UTF-8.',
  line: 1,
  column: 1,
};

/** Returns the text of bytes. Undefined if they are not UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}
