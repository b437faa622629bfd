import type { DatabaseSync } from 'node:sqlite';
import type { AnyCollection } from '@carillon/ports';
import { layoutOf } from '../stores/document-layout.ts';

/** A table of documents and the SQL that makes it, or one of its columns. */
export type DocumentTable = {
  readonly table: string;
  readonly create: string;
  readonly addColumn: Readonly<Record<string, string>>;
};

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
  const addColumn = Object.fromEntries(
    columns.map(({ name, sqlType }) => [name, `ALTER TABLE ${table} ADD COLUMN ${name} ${sqlType}`]),
  );
  return { table, addColumn, create: `CREATE TABLE ${table} (${lines.join(', ')}) STRICT; ${indexes.join(' ')}` };
}

/**
 * Makes missing tables, each in a transaction, and adds missing columns, which are null in rows that are there. The version of the file
 * stays, so that the release before still starts on it. Any other change of a released table is a migration.
 */
export function createDocumentTables(db: DatabaseSync, tables: readonly DocumentTable[]): void {
  const known = db.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?");
  const columnsOf = db.prepare('SELECT name FROM pragma_table_info(?)');
  for (const { table, create, addColumn } of tables) {
    if (!known.get(table)) {
      db.exec(`BEGIN IMMEDIATE; ${create} COMMIT`);
      continue;
    }
    const names = new Set(columnsOf.all(table).map(({ name }) => name));
    for (const [name, add] of Object.entries(addColumn)) if (!names.has(name)) db.exec(add);
  }
}
