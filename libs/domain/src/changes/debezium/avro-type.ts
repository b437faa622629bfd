import { isJsonObject, type Json, type JsonObject } from '@carillon/kernel';
import { readAnyText } from '../../events/json-reader-any.ts';
import { scaleOf, type ColumnType } from './column-type.ts';

/** How bytes of Avro are read, and what their schema says about the values. */
export type AvroType =
  | {
      readonly kind: 'null' | 'boolean' | 'integer' | 'float' | 'double' | 'string' | 'bytes';
      readonly column: ColumnType;
    }
  | { readonly kind: 'fixed'; readonly size: number; readonly column: ColumnType }
  | { readonly kind: 'enum'; readonly symbols: readonly string[]; readonly column: ColumnType }
  | { readonly kind: 'list' | 'map'; readonly items: AvroType; readonly column: ColumnType }
  | { readonly kind: 'union'; readonly branches: readonly AvroType[]; readonly column: ColumnType }
  | AvroRecord;

export type AvroRecord = {
  readonly kind: 'record';
  readonly fields: readonly { readonly name: string; readonly type: AvroType }[];
  readonly column: Extract<ColumnType, { kind: 'struct' }>;
};

const PRIMITIVES: ReadonlyMap<
  string,
  Exclude<AvroType['kind'], 'fixed' | 'enum' | 'list' | 'map' | 'union' | 'record'>
> = new Map([
  ['null', 'null'],
  ['boolean', 'boolean'],
  ['int', 'integer'],
  ['long', 'integer'],
  ['float', 'float'],
  ['double', 'double'],
  ['string', 'string'],
  ['bytes', 'bytes'],
]);

/** Types of Avro that mean the same as a type of a connector. */
const LOGICAL_TYPES: ReadonlyMap<string, string> = new Map([
  ['decimal', 'org.apache.kafka.connect.data.Decimal'],
  ['date', 'io.debezium.time.Date'],
  ['time-millis', 'io.debezium.time.Time'],
  ['time-micros', 'io.debezium.time.MicroTime'],
  ['timestamp-millis', 'io.debezium.time.Timestamp'],
  ['timestamp-micros', 'io.debezium.time.MicroTimestamp'],
  ['local-timestamp-millis', 'io.debezium.time.Timestamp'],
  ['local-timestamp-micros', 'io.debezium.time.MicroTimestamp'],
]);

/** Maximum types of a schema, also for one that refers to itself. */
const MAX_TYPES = 20_000;
const MAX_FIXED_BYTES = 1024 * 1024;

/** Reads a schema of Avro as Kafka Connect registers it. Undefined: it is none, or refers to a type that it does not hold. */
export function readAvroSchema(schema: Json): AvroType | undefined {
  return new SchemaReader().read(schema, '');
}

class SchemaReader {
  readonly #named = new Map<string, AvroType>();
  #types = 0;

  read(schema: Json, namespace: string): AvroType | undefined {
    this.#types += 1;
    if (this.#types > MAX_TYPES) return undefined;
    if (typeof schema === 'string') return this.#byName(schema, namespace, {});
    if (Array.isArray(schema)) return this.#union(schema as readonly Json[], namespace);
    if (!isJsonObject(schema)) return undefined;
    const { type } = schema;
    if (type === 'record') return this.#record(schema, namespace);
    if (type === 'enum' || type === 'fixed') return this.#enumOrFixed(schema, type, namespace);
    if (type === 'array' || type === 'map') return this.#collection(schema, type, namespace);
    if (typeof type === 'string') return this.#byName(type, namespace, schema);
    return type === undefined ? undefined : this.read(type, namespace);
  }

  #byName(name: string, namespace: string, schema: JsonObject): AvroType | undefined {
    const kind = PRIMITIVES.get(name);
    if (kind === undefined) return this.#named.get(fullName(name, namespace));
    return { kind, column: scalar(kind === 'null' ? 'string' : kind, schema) };
  }

  #union(schemas: readonly Json[], namespace: string): AvroType | undefined {
    const branches = this.#all(schemas, namespace);
    const shown = branches?.find(({ kind }) => kind !== 'null') ?? branches?.[0];
    if (branches === undefined || shown === undefined) return undefined;
    return { kind: 'union', branches, column: shown.column };
  }

  #all(schemas: readonly Json[], namespace: string): readonly AvroType[] | undefined {
    const types = schemas.map((schema) => this.read(schema, namespace));
    return types.every((type) => type !== undefined) ? types : undefined;
  }

  #collection(schema: JsonObject, type: 'array' | 'map', namespace: string): AvroType | undefined {
    const items = this.read(schema[type === 'array' ? 'items' : 'values'] ?? null, namespace);
    if (items === undefined) return undefined;
    return type === 'array'
      ? { kind: 'list', items, column: { kind: 'list', items: items.column } }
      : { kind: 'map', items, column: { kind: 'map', values: items.column } };
  }

  #enumOrFixed(schema: JsonObject, type: 'enum' | 'fixed', namespace: string): AvroType | undefined {
    const { name, symbols, size } = schema;
    if (typeof name !== 'string') return undefined;
    const own = typeof schema['namespace'] === 'string' ? schema['namespace'] : namespace;
    const read = type === 'enum' ? enumOf(symbols, schema) : fixedOf(size, schema);
    if (read !== undefined) this.#named.set(fullName(name, own), read);
    return read;
  }

  #record(schema: JsonObject, namespace: string): AvroType | undefined {
    const { name, fields } = schema;
    if (typeof name !== 'string' || !Array.isArray(fields)) return undefined;
    const own = typeof schema['namespace'] === 'string' ? schema['namespace'] : namespace;
    const full = fullName(name, own);
    const inner = full.includes('.') ? full.slice(0, full.lastIndexOf('.')) : own;
    const read: { name: string; type: AvroType }[] = [];
    const columns = new Map<string, ColumnType>();
    const record: AvroRecord = {
      kind: 'record',
      fields: read,
      column: { kind: 'struct', name: nameOf(schema), fields: columns },
    };
    this.#named.set(full, record);
    for (const field of fields as readonly Json[]) {
      const fieldName = isJsonObject(field) ? field['name'] : undefined;
      if (typeof fieldName !== 'string') return undefined;
      const type = this.read((field as JsonObject)['type'] ?? null, inner);
      if (type === undefined) return undefined;
      read.push({ name: fieldName, type });
      columns.set(fieldName, type.column);
    }
    return record;
  }
}

const fullName = (name: string, namespace: string): string =>
  name.includes('.') || namespace === '' ? name : `${namespace}.${name}`;

/** The connector's name of a type, which Kafka Connect keeps in the schema. */
function nameOf(schema: JsonObject): string {
  const { 'connect.name': name, logicalType } = schema;
  if (typeof name === 'string') return name;
  return typeof logicalType === 'string' ? (LOGICAL_TYPES.get(logicalType) ?? '') : '';
}

function scalar(kind: Exclude<ColumnType['kind'], 'list' | 'map' | 'struct'>, schema: JsonObject): ColumnType {
  const { scale } = schema;
  return {
    kind,
    name: nameOf(schema),
    scale: typeof scale === 'number' ? scale : scaleOf(schema['connect.parameters']),
  };
}

function enumOf(symbols: Json | undefined, schema: JsonObject): AvroType | undefined {
  if (!Array.isArray(symbols)) return undefined;
  const names = (symbols as readonly Json[]).filter((symbol) => typeof symbol === 'string');
  return names.length === symbols.length
    ? { kind: 'enum', symbols: names, column: scalar('string', schema) }
    : undefined;
}

const fixedOf = (size: Json | undefined, schema: JsonObject): AvroType | undefined =>
  typeof size === 'number' && Number.isInteger(size) && size >= 0 && size <= MAX_FIXED_BYTES
    ? { kind: 'fixed', size, column: scalar('bytes', schema) }
    : undefined;

const TEXT_LIMITS = { depth: 64, keys: 200_000 };

/** Reads the text of a schema as a registry has it. Null: it is none of Avro, or refers to a type that it does not hold. */
export function readAvroSchemaText(text: string): AvroType | null {
  const read = readAnyText(text, TEXT_LIMITS);
  return (read.ok ? readAvroSchema(read.value) : undefined) ?? null;
}
