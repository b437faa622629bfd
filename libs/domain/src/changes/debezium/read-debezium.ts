import { isJsonObject, type Json } from '@carillon/kernel';
import type { BodyLimits } from '../../events/limits.ts';
import { readJson } from '../../events/json-reader.ts';
import { readAvro } from './avro-reader.ts';
import type { AvroType } from './avro-type.ts';
import { readConnectSchema } from './column-type.ts';
import { fault, readEnvelope, skipped, type DebeziumRead } from './read-envelope.ts';

/** A record that Debezium wrote. `value` is null in a tombstone. */
export type DebeziumRecord = { readonly key: Uint8Array | null; readonly value: Uint8Array | null };

/** Schemas of Avro by their ids in the registry. Null: the registry has another kind of schema there. */
export type AvroSchemas = ReadonlyMap<number, AvroType | null>;

/** Limits of an envelope with its schema and both rows, of which a change keeps less. */
export const ENVELOPE_LIMITS: BodyLimits = { bytes: 4 * 1024 * 1024, depth: 48, keys: 200_000 };

const READER_LIMITS = { ...ENVELOPE_LIMITS, exactNumbers: true, anyName: true };
const AVRO_LIMITS = { depth: ENVELOPE_LIMITS.depth, values: ENVELOPE_LIMITS.keys };
const NO_SCHEMAS: AvroSchemas = new Map();

/**
 * Reads a record of Debezium. `integration` becomes `source.integration`; null means that a client posted the envelope,
 * and the name of its connector is used. For Avro, `schemas` has the schemas that `missingSchema` asked for. Never
 * throws.
 */
export function readDebezium(
  { key, value }: DebeziumRecord,
  integration: string | null,
  schemas: AvroSchemas = NO_SCHEMAS,
): DebeziumRead {
  if (value === null || value.length === 0) return skipped('tombstone');
  if (value.length > ENVELOPE_LIMITS.bytes) {
    const detail = `The envelope has ${value.length} bytes. An envelope may have ${ENVELOPE_LIMITS.bytes}.`;
    return fault('body_too_large', detail);
  }
  const readKey = (): Json => keyOf(key, schemas);
  return schemaIdOf(value) === null
    ? readJsonEnvelope(value, { integration, key: readKey })
    : readAvroEnvelope(value, { integration, key: readKey }, schemas);
}

/** Returns the id of a schema that the record needs and that is not among `schemas`. Null: there is none. */
export function missingSchema({ key, value }: DebeziumRecord, schemas: AvroSchemas): number | null {
  const id = schemaIdOf(value);
  if (id === null) return null;
  const type = schemas.get(id);
  if (type === undefined) return id;
  const keyId = type !== null && isOfMongoDb(type) ? schemaIdOf(key) : null;
  return keyId === null || schemas.has(keyId) ? null : keyId;
}

/** The key of a deleted document has its `_id`. Keys of other connectors are not read. */
function isOfMongoDb({ column }: AvroType): boolean {
  const source = column.kind === 'struct' ? column.fields.get('source') : undefined;
  return source?.kind === 'struct' && source.name === 'io.debezium.connector.mongo.Source';
}

/**
 * A converter writes a zero byte and the id of the schema in four bytes before Avro. JSON never begins with a zero byte. Other
 * bytes are no Avro, so that a source does not wait for a schema that cannot exist: registries count from 1 with signed integers.
 */
function schemaIdOf(bytes: Uint8Array | null): number | null {
  if (bytes === null || bytes[0] !== 0 || bytes.length <= 5) return null;
  const id = new DataView(bytes.buffer, bytes.byteOffset).getInt32(1);
  return id > 0 ? id : null;
}

type Origin = { readonly integration: string | null; readonly key: () => Json };

function readAvroEnvelope(value: Uint8Array, origin: Origin, schemas: AvroSchemas): DebeziumRead {
  const id = schemaIdOf(value);
  const type = id === null ? undefined : schemas.get(id);
  if (type === undefined) {
    return fault('avro_without_registry', 'The record is Avro, and no schema registry is known that has its schema.');
  }
  if (type === null) {
    return fault('schema_mismatch', `Schema ${id} of the registry is no schema of Avro that Carillon reads.`);
  }
  const read = readAvro(type, value.subarray(5), AVRO_LIMITS);
  if (!read.ok) return fault('schema_mismatch', `The record does not fit schema ${id} of the registry: ${read.error}.`);
  if (!isJsonObject(read.value)) return fault('no_envelope', 'The record is Avro, but no record of fields.');
  return readEnvelope({ ...origin, payload: read.value, type: type.column, numbers: new Set() });
}

function readJsonEnvelope(value: Uint8Array, origin: Origin): DebeziumRead {
  const numbers = new Set<string>();
  const read = readJson(value, { ...READER_LIMITS, numberTexts: numbers });
  if (!read.ok) return fault(read.error.code, `The record is no JSON that Carillon reads. ${read.error.detail}`);
  const { payload, schema } = withoutSchema(read.value);
  if (payload === null) return skipped('tombstone');
  if (!isJsonObject(payload)) return fault('no_envelope', 'The record is JSON, but no object.');
  const type = schema === null ? null : readConnectSchema(schema);
  if (type === undefined) return fault('schema_mismatch', 'The `schema` of the envelope is none of Kafka Connect.');
  return readEnvelope({ ...origin, payload, type, numbers });
}

/** The JSON converter writes `{schema, payload}`, unless `schemas.enable` is false. */
function withoutSchema(value: Json): { readonly payload: Json; readonly schema: Json } {
  if (!isJsonObject(value) || value['payload'] === undefined || value['schema'] === undefined) {
    return { payload: value, schema: null };
  }
  return { payload: value['payload'], schema: value['schema'] };
}

function keyOf(key: Uint8Array | null, schemas: AvroSchemas): Json {
  if (key === null) return null;
  const id = schemaIdOf(key);
  if (id !== null) {
    const type = schemas.get(id);
    const read = type ? readAvro(type, key.subarray(5), AVRO_LIMITS) : null;
    return read?.ok === true ? read.value : null;
  }
  const read = readJson(key, READER_LIMITS);
  return read.ok ? withoutSchema(read.value).payload : null;
}
