import { isJsonObject, type Json, type JsonObject } from '@carillon/kernel';
import { exactFloat, exactJson, exactNumber } from '../exact-values.ts';
import { isFieldTooLarge } from '../field-limit.ts';
import type { ColumnType } from './column-type.ts';
import { decimalText } from './decimal-text.ts';
import {
  dateText,
  databaseTimestamp,
  isoDateText,
  isoTimestampText,
  timeText,
  unzonedText,
  zonedTimestampText,
  type PartsPerSecond,
} from './time-text.ts';

type TypeName = string;

/** Undefined: the integer is no such value, and stays as it came. */
const INTEGERS: ReadonlyMap<TypeName, (value: bigint) => string | undefined> = new Map([
  ['io.debezium.time.Date', dateText],
  ['org.apache.kafka.connect.data.Date', dateText],
  ['io.debezium.time.Time', timeOf('1000')],
  ['org.apache.kafka.connect.data.Time', timeOf('1000')],
  ['io.debezium.time.MicroTime', timeOf('1000000')],
  ['io.debezium.time.NanoTime', timeOf('1000000000')],
  ['io.debezium.time.Timestamp', timestampOf('1000')],
  ['org.apache.kafka.connect.data.Timestamp', timestampOf('1000')],
  ['io.debezium.time.MicroTimestamp', timestampOf('1000000')],
  ['io.debezium.time.NanoTimestamp', timestampOf('1000000000')],
]);

const TEXTS: ReadonlyMap<TypeName, (text: string) => Json> = new Map([
  ['io.debezium.time.ZonedTimestamp', zonedTimestampText],
  ['io.debezium.time.IsoDate', isoDateText],
  ['io.debezium.time.IsoTime', unzonedText],
  ['io.debezium.time.IsoTimestamp', isoTimestampText],
  ['io.debezium.data.Json', exactJson],
]);

const DECIMAL = 'org.apache.kafka.connect.data.Decimal';
const VARIABLE_SCALE_DECIMAL = 'io.debezium.data.VariableScaleDecimal';

function timeOf(per: PartsPerSecond): (value: bigint) => string {
  return (value) => timeText(value, per);
}

function timestampOf(per: PartsPerSecond): (value: bigint) => string {
  return (value) => databaseTimestamp(value, per);
}

/** Numbers of the envelope that were read as text, because nothing else holds their digits. */
export type NumberTexts = ReadonlySet<string>;

/**
 * Returns the exact value of a column, from what the envelope has and what its schema says. Bytes are base64 text.
 * Undefined: the value is not of the type.
 */
export function typedValue(type: ColumnType, value: Json, numbers: NumberTexts): Json | undefined {
  if (value === null) return null;
  switch (type.kind) {
    case 'integer':
      return integerOf(type.name, value);
    case 'float':
    case 'double':
      return floatOf(type.kind, value, numbers);
    case 'boolean':
      return typeof value === 'boolean' ? value : undefined;
    case 'string':
      return typeof value === 'string' ? (TEXTS.get(type.name) ?? String)(value) : undefined;
    case 'bytes':
      if (type.name === DECIMAL) return decimalOf(value, type.scale, numbers);
      return typeof value === 'string' ? value : undefined;
    case 'list':
      return Array.isArray(value) ? listOf(type.items, value as readonly Json[], numbers) : undefined;
    case 'map':
      return isJsonObject(value) ? fieldsOf(value, () => type.values, numbers) : undefined;
    case 'struct':
      if (!isJsonObject(value)) return undefined;
      if (type.name === VARIABLE_SCALE_DECIMAL) return decimalOf(value['value'], value['scale'], numbers);
      return fieldsOf(value, (name) => type.fields.get(name), numbers);
  }
}

function integerOf(name: TypeName, value: Json): Json | undefined {
  if (typeof value !== 'bigint' && !Number.isInteger(value)) return undefined;
  return INTEGERS.get(name)?.(BigInt(value as number | bigint)) ?? value;
}

const NOT_FINITE: ReadonlySet<Json> = new Set(['NaN', 'Infinity', '-Infinity']);

/** JSON has no NaN and no infinity, so converters write them as text. */
function floatOf(kind: 'float' | 'double', value: Json, numbers: NumberTexts): number | string | undefined {
  if (typeof value === 'string' && !numbers.has(value)) return NOT_FINITE.has(value) ? value : undefined;
  if (typeof value !== 'number' && typeof value !== 'bigint' && typeof value !== 'string') return undefined;
  const double = exactFloat(String(value));
  return kind === 'float' && typeof double === 'number' ? shortestFloat(double) : double;
}

/**
 * Returns the double that the shortest text of a 32-bit float names, as a database writes it: 0.1, not 0.10000000149011612.
 * Undefined: no such float is that large.
 */
function shortestFloat(double: number): number | undefined {
  const float = Math.fround(double);
  if (!Number.isFinite(float)) return undefined;
  for (let digits = 1; digits < 9; digits += 1) {
    const short = Number(float.toPrecision(digits));
    if (isNearest(short, float)) return short;
  }
  return Number(float.toPrecision(9));
}

/** Whether the number is nearer to the float than to any other. PostgreSQL writes no number that lies midway between two floats. */
const isNearest = (number: number, float: number): boolean =>
  Math.fround(number * (1 - NUDGE)) === float && Math.fround(number * (1 + NUDGE)) === float;

/** Far below the distance of two floats, and above that of two doubles. */
const NUDGE = 2 ** -50;

/** Base64 of a decimal with more digits than a field has bytes. To write them takes more than linear time. */
const MAX_DECIMAL_BASE64 = 36_500;

/** Converters write a decimal as base64 of its digits, or as a number. */
function decimalOf(value: Json | undefined, scale: Json | undefined, numbers: NumberTexts): Json | undefined {
  if (value === null || typeof value === 'number' || typeof value === 'bigint') return value;
  if (typeof value !== 'string' || typeof scale !== 'number' || !Number.isInteger(scale)) return undefined;
  // A column with a text above the limit of a field is unknown, so its value does not matter.
  if (numbers.has(value) || isFieldTooLarge(value)) return value;
  if (value.length > MAX_DECIMAL_BASE64) return value.repeat(2);
  const text = decimalText(value, scale);
  return text === undefined ? undefined : exactNumber(text);
}

function listOf(type: ColumnType, values: readonly Json[], numbers: NumberTexts): readonly Json[] | undefined {
  const items: Json[] = [];
  for (const value of values) {
    const item = typedValue(type, value, numbers);
    if (item === undefined) return undefined;
    items.push(item);
  }
  return items;
}

function fieldsOf(
  value: JsonObject,
  typeOf: (name: string) => ColumnType | undefined,
  numbers: NumberTexts,
): Json | undefined {
  const fields = Object.create(null) as Record<string, Json>;
  for (const [name, item] of Object.entries(value)) {
    const type = typeOf(name);
    const field = type && typedValue(type, item, numbers);
    if (field === undefined) return undefined;
    fields[name] = field;
  }
  return fields;
}
