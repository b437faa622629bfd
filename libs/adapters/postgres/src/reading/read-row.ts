import { isFieldTooLarge } from '@carillon/domain/changes';
import type { Json, JsonObject } from '@carillon/kernel';
import type { ReadValue } from '../values/read-value.ts';
import type { RowText } from '../values/row-text.ts';

export type ReadColumn = { readonly name: string; readonly read: ReadValue };

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
      if (isFieldTooLarge(typeof json === 'string' ? json : value)) unknown.push(name);
      else row[name] = json;
    }
  }
  return { row, unknown };
}
