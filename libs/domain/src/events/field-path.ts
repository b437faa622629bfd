import { isJsonObject, type Json } from '@carillon/kernel';

/** One step of a path below the event: a name, an index of a list, or null for each element of a list. */
export type FieldStep = string | number | null;

/** What a JSON value is. */
export type JsonType = 'string' | 'number' | 'boolean' | 'null' | 'array' | 'object';

export function jsonTypeOf(value: Json): JsonType {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (isJsonObject(value)) return 'object';
  if (typeof value === 'bigint') return 'number';
  return typeof value as 'string' | 'number' | 'boolean';
}

const PLAIN = /^[A-Za-z_]\w*$/;

/** A path as people read it: `customer.email`, `items[].qty`, `["a b"]`; empty for the event itself. */
export function pathText(steps: readonly FieldStep[]): string {
  let text = '';
  for (const step of steps) {
    if (step === null) text += '[]';
    else if (typeof step === 'number') text += `[${step}]`;
    else if (PLAIN.test(step)) text += text === '' ? step : `.${step}`;
    else text += `[${JSON.stringify(step)}]`;
  }
  return text;
}
