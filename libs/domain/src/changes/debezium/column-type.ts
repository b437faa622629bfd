import { isJsonObject, type Json } from '@carillon/kernel';

/** Schema of a value in an envelope. `name` is the connector's type, such as `io.debezium.time.Date`. */
export type ColumnType =
  | {
      readonly kind: 'integer' | 'float' | 'double' | 'boolean' | 'string' | 'bytes';
      readonly name: string;
      /** Digits after the decimal point of a decimal. */
      readonly scale: number;
    }
  | { readonly kind: 'list'; readonly items: ColumnType }
  | { readonly kind: 'map'; readonly values: ColumnType }
  | StructType;

export type StructType = {
  readonly kind: 'struct';
  readonly name: string;
  readonly fields: ReadonlyMap<string, ColumnType>;
};

const SCALARS = new Map([
  ['int8', 'integer'],
  ['int16', 'integer'],
  ['int32', 'integer'],
  ['int64', 'integer'],
  ['float', 'float'],
  ['double', 'double'],
  ['boolean', 'boolean'],
  ['string', 'string'],
  ['bytes', 'bytes'],
] as const);

/** Reads a schema of Kafka Connect, as its JSON converter writes it. Undefined: it is none. */
export function readConnectSchema(schema: Json | undefined): ColumnType | undefined {
  if (!isJsonObject(schema)) return undefined;
  const { type } = schema;
  const name = typeof schema['name'] === 'string' ? schema['name'] : '';
  if (type === 'struct') return structOf(schema['fields'], name);
  if (type === 'array') {
    const items = readConnectSchema(schema['items']);
    return items && { kind: 'list', items };
  }
  if (type === 'map') {
    const values = readConnectSchema(schema['values']);
    return values && { kind: 'map', values };
  }
  const kind = SCALARS.get(type as never);
  return kind && { kind, name, scale: scaleOf(schema['parameters']) };
}

function structOf(fields: Json | undefined, name: string): StructType | undefined {
  if (!Array.isArray(fields)) return undefined;
  const types = new Map<string, ColumnType>();
  for (const field of fields as readonly Json[]) {
    const type = readConnectSchema(field);
    if (type === undefined || !isJsonObject(field) || typeof field['field'] !== 'string') return undefined;
    types.set(field['field'], type);
  }
  return { kind: 'struct', name, fields: types };
}

/** Returns the scale of a decimal column from its type parameters, which Debezium writes as text. Defaults to 0. */
export function scaleOf(parameters: Json | undefined): number {
  const scale = isJsonObject(parameters) ? Number(parameters['scale']) : 0;
  return Number.isInteger(scale) ? scale : 0;
}
