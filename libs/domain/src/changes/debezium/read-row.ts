import { isJsonObject, stringifyJson, type Json, type JsonObject } from '@carillon/kernel';
import { FORBIDDEN_NAMES } from '../../events/limits.ts';
import { isFieldTooLarge } from '../field-limit.ts';
import type { StructType } from './column-type.ts';
import { typedValue, type NumberTexts } from './typed-value.ts';
import { isUnavailable } from './unavailable-value.ts';

export type DebeziumRow = {
  readonly row: JsonObject;
  /** Columns whose values the database did not send, because they did not change. */
  readonly unsent: readonly string[];
  /** Columns whose values are above the limit of a field. */
  readonly tooLarge: readonly string[];
};

/** Schema of a row, and the numbers that were read as text. */
export type RowType = { readonly struct: StructType; readonly numbers: NumberTexts };

/**
 * Returns the exact values of a row and the names of columns without a value. A value is measured before and after
 * decoding. Without a type, values stay unchanged. A column may have any name; the append marks names that no event may
 * have as unknown. Returns the name of the first column that does not match its type as a text.
 */
export function readDebeziumRow(fields: JsonObject, type: RowType | null): DebeziumRow | string {
  const row = Object.create(null) as Record<string, Json>;
  const unsent: string[] = [];
  const tooLarge: string[] = [];
  for (const [name, value] of Object.entries(fields)) {
    const missing = isUnavailable(value) ? unsent : isTooLarge(value) ? tooLarge : null;
    if (missing !== null) {
      missing.push(name);
      continue;
    }
    const exact = type === null ? value : valueOf(type, name, value);
    if (exact === undefined) return name;
    // A decimal has more digits than the base64 that it came as.
    if (typeof exact === 'string' && isFieldTooLarge(exact)) {
      tooLarge.push(name);
      continue;
    }
    // Kept as text, as the built-in reader keeps a JSON column that the strict reader refuses.
    row[name] = hasForbiddenName(exact) ? stringifyJson(exact) : exact;
  }
  const missing = type && [...type.struct.fields.keys()].find((name) => !Object.hasOwn(fields, name));
  return missing ?? { row, unsent, tooLarge };
}

function hasForbiddenName(value: Json): boolean {
  if (Array.isArray(value)) return (value as readonly Json[]).some(hasForbiddenName);
  if (!isJsonObject(value)) return false;
  return FORBIDDEN_NAMES.some((name) => Object.hasOwn(value, name)) || Object.values(value).some(hasForbiddenName);
}

function valueOf({ struct, numbers }: RowType, name: string, value: Json): Json | undefined {
  const type = struct.fields.get(name);
  return type && typedValue(type, value, numbers);
}

function isTooLarge(value: Json): boolean {
  if (typeof value === 'string') return isFieldTooLarge(value);
  return (Array.isArray(value) || isJsonObject(value)) && isFieldTooLarge(stringifyJson(value));
}
