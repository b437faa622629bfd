import { isJsonObject, type Json } from '@carillon/kernel';
import type { BodyLimits } from '../../events/limits.ts';
import { readJson } from '../../events/json-reader.ts';
import { readConnectSchema } from './column-type.ts';
import { fault, readEnvelope, skipped, type DebeziumRead } from './read-envelope.ts';

/** A record that Debezium wrote. `value` is null in a tombstone. */
export type DebeziumRecord = { readonly key: Uint8Array | null; readonly value: Uint8Array | null };

/** Limits of an envelope with its schema and both rows, of which a change keeps less. */
export const ENVELOPE_LIMITS: BodyLimits = { bytes: 4 * 1024 * 1024, depth: 48, keys: 200_000 };

const READER_LIMITS = { ...ENVELOPE_LIMITS, exactNumbers: true };

/**
 * Reads a record of Debezium. `integration` becomes `source.integration`; null: a sender posted the envelope, and the name of its
 * connector is taken. Never throws.
 */
export function readDebezium({ key, value }: DebeziumRecord, integration: string | null): DebeziumRead {
  if (value === null || value.length === 0) return skipped('tombstone');
  if (value.length > ENVELOPE_LIMITS.bytes) {
    return fault(
      'body_too_large',
      `The envelope has ${value.length} bytes. An envelope may have ${ENVELOPE_LIMITS.bytes}.`,
    );
  }
  const numbers = new Set<string>();
  const read = readJson(value, { ...READER_LIMITS, numberTexts: numbers });
  if (!read.ok) return fault(read.error.code, `The record is no JSON that Carillon reads. ${read.error.detail}`);
  const { payload, schema } = withoutSchema(read.value);
  if (payload === null) return skipped('tombstone');
  if (!isJsonObject(payload)) return fault('no_envelope', 'The record is JSON, but no object.');
  const type = schema === null ? null : readConnectSchema(schema);
  if (type === undefined) return fault('schema_mismatch', 'The `schema` of the envelope is none of Kafka Connect.');
  return readEnvelope({ payload, type, numbers, key: () => keyOf(key), integration });
}

/** The JSON converter writes `{schema, payload}`, unless `schemas.enable` is false. */
function withoutSchema(value: Json): { readonly payload: Json; readonly schema: Json } {
  if (!isJsonObject(value) || value['payload'] === undefined || value['schema'] === undefined) {
    return { payload: value, schema: null };
  }
  return { payload: value['payload'], schema: value['schema'] };
}

function keyOf(key: Uint8Array | null): Json {
  const read = key && readJson(key, READER_LIMITS);
  return read?.ok === true ? withoutSchema(read.value).payload : null;
}
