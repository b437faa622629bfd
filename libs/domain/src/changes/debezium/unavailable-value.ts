import { isJsonObject, type Json } from '@carillon/kernel';
import { toBase64 } from './base64.ts';

const PLACEHOLDER = '__debezium_unavailable_value';
const AS_NUMBERS = Array.from(PLACEHOLDER, (letter) => letter.charCodeAt(0));
const AS_BASE64 = toBase64(Uint8Array.from(AS_NUMBERS));
const AS_HEX = AS_NUMBERS.map((byte) => byte.toString(16)).join('');

/**
 * Returns true for Debezium's placeholder of a value that the database did not send. In bytes and lists of numbers the
 * placeholder is its bytes, in a map its name.
 */
export function isUnavailable(value: Json): boolean {
  if (typeof value === 'string') return value === PLACEHOLDER || value === AS_BASE64 || value === AS_HEX;
  if (Array.isArray(value)) {
    const items = value as readonly Json[];
    if (items.length === 1) return items[0] === PLACEHOLDER;
    return items.length === AS_NUMBERS.length && AS_NUMBERS.every((number, at) => items[at] === number);
  }
  return isJsonObject(value) && Object.hasOwn(value, PLACEHOLDER);
}
