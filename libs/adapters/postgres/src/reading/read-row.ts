import type { Json, JsonObject } from '@carillon/kernel';
import type { ReadValue } from '../values/read-value.ts';
import type { RowText } from '../values/row-text.ts';

/** Bytes of one field. A larger one is left out and named as unknown. */
const MAX_FIELD_BYTES = 64 * 1024;
/** A text of so many characters is never larger. */
const SURELY_SMALL = MAX_FIELD_BYTES / 3;

export type ReadColumn = { readonly name: string; readonly read: ReadValue };

const isTooLarge = (text: string): boolean =>
  text.length > SURELY_SMALL && (text.length > MAX_FIELD_BYTES || Buffer.byteLength(text) > MAX_FIELD_BYTES);

/**
 * Returns the values of a row, and the names of columns that are unknown: the database did not send them, or they are too
 * large. A text is measured as it is read, any other value as the database writes it.
 */
export function readRow(
  columns: readonly ReadColumn[],
  text: RowText,
): { readonly row: JsonObject; readonly unknown: readonly string[] } {
  const row = Object.create(null) as Record<string, Json>;
  const unknown: string[] = [];
  for (const { name, read } of columns) {
    const value = text[name];
    if (value === null) row[name] = null;
    else if (value === undefined) unknown.push(name);
    else {
      const json = read(value);
      if (isTooLarge(typeof json === 'string' ? json : value)) unknown.push(name);
      else row[name] = json;
    }
  }
  return { row, unknown };
}
