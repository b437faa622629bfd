import type { SQLInputValue } from 'node:sqlite';
import { stringifyJson } from '@carillon/kernel';
import { bodyField, bodyText, itemOf, type Collection, type Fields, type Key } from '@carillon/ports';
import type { Row } from '../statements.ts';
import { layoutOf } from './document-layout.ts';

/** Values by column. */
export type Values = Readonly<Record<string, SQLInputValue>>;
export type VersionColumn = { readonly column: string; readonly kind: 'counter' | 'token' };

export const equal = (columns: readonly string[]): string => columns.map((column) => `${column} = ?`).join(' AND ');

/** How the documents of a collection become rows, and rows documents. */
export function documentRows<Item>(collection: Collection<Item>) {
  const { key: keyColumns, reads } = layoutOf(collection);
  const body = bodyField(collection);
  const names = [...Object.keys(collection.fields), ...(body === null ? [] : [body])];
  const selected = (fields: readonly string[]): string =>
    fields.map((field) => `${reads(field)} AS "${field}"`).join(', ');
  const toFields = (row: Row): Fields =>
    Object.fromEntries(
      Object.entries(row).map(([name, value]) => [
        name,
        collection.fields[name]?.type === 'json' && typeof value === 'string' ? JSON.parse(value) : value,
      ]),
    );
  const { version } = collection;
  return {
    selected,
    toFields,
    /** SQL for everything that makes an item. */
    all: selected(body === null || collection.read ? names : [...collection.key, body]),
    toItem: (row: Row): Item => itemOf(collection, toFields(row)),
    byKey: equal(keyColumns),
    keyed: (key: Key): Values => Object.fromEntries(keyColumns.map((column, at) => [column, key[at] ?? null])),
    version: version ? ({ column: reads(version.field), kind: version.kind } satisfies VersionColumn) : null,
    valuesOf: (item: Item): Values => {
      const values: Record<string, SQLInputValue> = {};
      for (const [name, { of, column, type }] of Object.entries(collection.fields)) {
        if (typeof column === 'object' || collection.key.includes(name)) continue;
        const value = of(item) ?? null;
        values[reads(name)] = type === 'json' ? stringifyJson(value) : (value as SQLInputValue);
      }
      return body === null ? values : { ...values, [reads(body)]: bodyText(collection, item) };
    },
  };
}
