import { isJsonObject, type Json, type JsonObject } from '@carillon/kernel';
import { exactFloat, exactNumber } from '../exact-values.ts';
import { timestampText, zonedTimestampText } from './time-text.ts';

/** Readers of the wrappers of MongoDB's extended JSON, by name. They return undefined for a value of unknown form. */
const WRAPPERS: ReadonlyMap<string, (value: Json) => Json | undefined> = new Map([
  ['$oid', textOnly((text) => text)],
  ['$uuid', textOnly((text) => text)],
  ['$numberInt', textOnly(exactNumber)],
  ['$numberLong', textOnly(exactNumber)],
  ['$numberDecimal', textOnly(exactNumber)],
  ['$numberDouble', textOnly(exactFloat)],
  ['$date', dateOf],
  ['$binary', (value) => (isJsonObject(value) ? textIn(value, 'base64') : textIn({ value }, 'value'))],
]);

function textOnly(read: (text: string) => Json): (value: Json) => Json | undefined {
  return (value) => (typeof value === 'string' ? read(value) : undefined);
}

const textIn = (value: JsonObject, name: string): string | undefined =>
  typeof value[name] === 'string' ? value[name] : undefined;

/** Milliseconds since 1970, or RFC 3339. */
function dateOf(value: Json): Json | undefined {
  if (typeof value === 'string') return zonedTimestampText(value);
  const plain = unwrapExtendedJson(value);
  if (typeof plain !== 'bigint' && !Number.isInteger(plain)) return undefined;
  const text = timestampText(BigInt(plain as number | bigint), '1000');
  return text === undefined ? plain : `${text}Z`;
}

/** Returns extended JSON of MongoDB as plain values. Unknown wrappers stay unchanged. */
export function unwrapExtendedJson(value: Json): Json {
  if (Array.isArray(value)) return (value as readonly Json[]).map(unwrapExtendedJson);
  if (!isJsonObject(value)) return value;
  const [name = ''] = Object.keys(value);
  const inner = value[name];
  const plain = inner === undefined ? undefined : WRAPPERS.get(name)?.(inner);
  if (plain !== undefined) return plain;
  const fields = Object.create(null) as Record<string, Json>;
  for (const [field, item] of Object.entries(value)) fields[field] = unwrapExtendedJson(item);
  return fields;
}
