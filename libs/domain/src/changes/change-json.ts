import { err, isJsonObject, ok, type Json, type JsonObject, type Result } from '@carillon/kernel';
import { readEvent } from '../events/json-reader.ts';
import { CHANGE_LIMITS } from '../events/limits.ts';
import { CHANGE_OPS, committedAt, type Change, type ChangeOp, type ChangeSource } from './change.ts';

/** Why bytes are not a change. `code` is a class, `detail` quotes no values. */
export type ChangeFault = { readonly code: string; readonly detail: string };

/**
 * Writes a change as JSON. Numbers stay exact: a bigint is written as its digits, and a whole double beyond 2^53 with an
 * exponent, so that it is read as a double. `previous` of a delete is left out, because it is `event`.
 */
export function writeChange({ op, event, previous, unknown, source }: Change): Uint8Array {
  const before = op === 'delete' || previous === undefined ? {} : { previous };
  const { integration, table, tx, position, at } = source;
  const record = { op, event, ...before, unknown, source: { integration, table, tx, position, at } };
  return new TextEncoder().encode(stringifyExact(record));
}

/** Without as many digits in a row, no whole number is beyond 2^53. */
const LONG_NUMBER = /\d{16}/;

function stringifyExact(value: JsonObject): string {
  try {
    const text = JSON.stringify(value);
    if (!LONG_NUMBER.test(text)) return text;
  } catch {
    // JSON.stringify refuses a bigint.
  }
  return JSON.stringify(value, (_name, item: unknown) => {
    if (typeof item === 'bigint') return JSON.rawJSON(item.toString());
    const isLong = typeof item === 'number' && Number.isInteger(item) && !Number.isSafeInteger(item);
    return isLong ? JSON.rawJSON(item.toExponential()) : item;
  });
}

/** Reads what `writeChange` wrote, as strictly as an event is read. Never throws. */
export function readChange(bytes: Uint8Array): Result<Change, ChangeFault> {
  if (bytes.length > CHANGE_LIMITS.bytes) {
    return err({
      code: 'body_too_large',
      detail: `The change has ${bytes.length} bytes. A change may have ${CHANGE_LIMITS.bytes}.`,
    });
  }
  const read = readEvent(bytes, CHANGE_LIMITS);
  return read.ok ? changeOf(read.value.body) : read;
}

/**
 * Reads a change that a person wrote to try a rule: `op` and `event`, and as far as they matter `previous`, `unknown` and
 * names of `source`. Without `previous` an update is one of which the database did not send the row before.
 */
export function readTriedChange(bytes: Uint8Array, source: ChangeSource): Result<Change, ChangeFault> {
  const read = readEvent(bytes, CHANGE_LIMITS);
  if (!read.ok) return read;
  const { body } = read.value;
  if (!isOp(body['op'])) return err({ code: 'invalid_change', detail: NO_OP });
  const isFirst = body['op'] === 'create' || body['op'] === 'snapshot';
  const given = body['source'];
  return changeOf({
    ...(isFirst && { previous: null }),
    unknown: [],
    ...body,
    source: { ...source, ...(isJsonObject(given) && given) },
  });
}

const NO_OP = `The stream reads a database. Write a change: {"op": "update", "event": {…}, "previous": {…}}; op is one of ${CHANGE_OPS.join(', ')}.`;

function changeOf({ op, event, previous, unknown, source }: JsonObject): Result<Change, ChangeFault> {
  if (!isOp(op)) return invalid(`op is not ${CHANGE_OPS.join(', ')}`);
  if (!isJsonObject(event)) return invalid('event is not an object');
  if (!Array.isArray(unknown) || !unknown.every((name) => typeof name === 'string')) {
    return invalid('unknown is not a list of names');
  }
  const readSource = sourceOf(source);
  if (readSource === undefined) return invalid('source lacks a value or has one of another type');
  const names: readonly string[] = unknown;
  if (op === 'delete') return ok({ op, event, previous: event, unknown: names, source: readSource });
  if (op !== 'update') {
    return previous === null
      ? ok({ op, event, previous, unknown: names, source: readSource })
      : invalid(`previous is not null on ${op}`);
  }
  if (previous === undefined) return ok({ op, event, unknown: names, source: readSource });
  if (!isJsonObject(previous)) return invalid('previous is not an object');
  return ok({ op, event, previous, unknown: names, source: readSource });
}

const isOp = (value: Json | undefined): value is ChangeOp => CHANGE_OPS.some((op) => op === value);

function sourceOf(value: Json | undefined): ChangeSource | undefined {
  if (!isJsonObject(value)) return undefined;
  const { integration, table, tx, position, at } = value;
  if (typeof integration !== 'string' || typeof table !== 'string' || typeof position !== 'string') return undefined;
  if (typeof tx !== 'number' || typeof at !== 'string') return undefined;
  const source = { integration, table, tx, position, at };
  return committedAt(source) === undefined ? undefined : source;
}

const invalid = (detail: string): Result<never, ChangeFault> =>
  err({ code: 'invalid_change', detail: `The record is not a change: ${detail}.` });
