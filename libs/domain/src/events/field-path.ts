import { isJsonObject, type Json } from '@carillon/kernel';

/** One step of a path below the event: a field name, a list index, or null for each element of a list. */
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
export const pathText = (steps: readonly FieldStep[]): string => steps.reduce(pathInside, '');

/** The path of what one step below `path` is found. */
export function pathInside(path: string, step: FieldStep): string {
  if (step === null) return `${path}[]`;
  if (typeof step === 'number') return `${path}[${step}]`;
  if (!PLAIN.test(step)) return `${path}[${JSON.stringify(step)}]`;
  return path === '' ? step : `${path}.${step}`;
}
