import { isJsonObject, type Json, type JsonObject, parseJson, stringifyJson } from '@carillon/kernel';
import { InvalidRecord } from './codec.ts';

const CLEAR = 0x7b;

/** The personal part of a record as its one field: JSON, so the first byte is `{`. */
export const writePersonal = (value: JsonObject): Buffer => Buffer.from(stringifyJson(value), 'utf8');

/** Reads the personal part. Another first byte than `{` is the mark of a form that this version does not know. */
export function readPersonal(bytes: Uint8Array): JsonObject {
  if (bytes[0] !== CLEAR) throw new InvalidRecord('the personal part is in a form that this version cannot read');
  const value = parseJson(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  if (!isJsonObject(value)) throw new InvalidRecord('the personal part is not a JSON object');
  return value;
}

export function textOf(value: Json | undefined, name: string): string {
  if (typeof value === 'string') return value;
  throw new InvalidRecord(`${name} is not text`);
}

export function textOrNull(value: Json | undefined, name: string): string | null {
  return value === null ? null : textOf(value, name);
}

export function objectOf(value: Json | undefined, name: string): JsonObject {
  if (isJsonObject(value)) return value;
  throw new InvalidRecord(`${name} is not an object`);
}

export function listOf(value: Json | undefined, name: string): readonly Json[] {
  if (Array.isArray(value)) return value as readonly Json[];
  throw new InvalidRecord(`${name} is not a list`);
}

/** Checks that a value is on a closed list. The type makes the table complete. */
export function wordOf<Word extends string>(value: string, table: Readonly<Record<Word, true>>, name: string): Word {
  if (Object.hasOwn(table, value)) return value as Word;
  throw new InvalidRecord(`${name} ${JSON.stringify(value.slice(0, 40))} is not known here`);
}
