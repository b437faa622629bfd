import type { DatabaseSync } from 'node:sqlite';
import type { AnyCollection } from '@carillon/ports';
import { layoutOf } from '../stores/document-layout.ts';

/** A table of documents and the SQL that makes it. */
export type DocumentTable = { readonly table: string; readonly create: string };

export function documentTable(collection: AnyCollection): DocumentTable {
  const { table, key, columns, columnsOf } = layoutOf(collection);
  const list = (names: readonly string[]): string => names.join(', ');
  const lines = [
    ...columns.map(({ name, sqlType }) => `${name} ${sqlType}${key.includes(name) ? ' NOT NULL' : ''}`),
    `PRIMARY KEY (${list(key)})`,
    ...Object.values(collection.unique ?? {}).map((names) => `UNIQUE (${list(columnsOf(names))})`),
  ];
  const indexes = Object.entries(collection.indexes ?? {}).map(([name, { by, present = [] }]) => {
    const where = columnsOf(present).map((column) => `${column} IS NOT NULL`);
    const condition = where.length > 0 ? ` WHERE ${where.join(' AND ')}` : '';
    return `CREATE INDEX ${table}_${name} ON ${table} (${list(columnsOf(by))})${condition};`;
  });
  return { table, create: `CREATE TABLE ${table} (${lines.join(', ')}) STRICT; ${indexes.join(' ')}` };
}

/**
 * Makes missing tables, each in a transaction. The version of the file stays, so that the release before still starts on it.
 * A table that is there stays as it is: what changes of a released table is a migration.
 */
export function createDocumentTables(db: DatabaseSync, tables: readonly DocumentTable[]): void {
  const known = db.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?");
  for (const { table, create } of tables) if (!known.get(table)) db.exec(`BEGIN IMMEDIATE; ${create} COMMIT`);
}
