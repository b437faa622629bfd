import type { SQLInputValue } from 'node:sqlite';
import {
  indexOf,
  keyValues,
  orderOf,
  type Collection,
  type Condition,
  type DocumentCollection,
  type Documents,
  type Version,
  type Where,
} from '@carillon/ports';
import type { Reader } from '../reader.ts';
import type { Transaction, Write } from '../writing/protocol.ts';
import { cursorAt, keysOf, pageOf } from './cursor.ts';
import { layoutOf, type Layout } from './document-layout.ts';
import { documentRows, equal, type Values, type VersionColumn } from './document-rows.ts';

/** A write of one document, by columns. */
export type DocumentWrite = {
  readonly table: string;
  readonly key: Values;
  readonly values: Values;
  /** Null: documents of this table never change. */
  readonly version: VersionColumn | null;
  /** Version of the stored document. Null: there must be none. */
  readonly expected: Version | null;
};

export const documentWrites = ({ sql }: Pick<Transaction, 'sql'>) => {
  /**
   * Returns the version of the stored document. Returns true for a document of a collection without versions, and null
   * if there is no document.
   */
  function stored(table: string, key: Values, version: VersionColumn | null): Version | true | null {
    const select = `SELECT ${version?.column ?? 1} AS version FROM ${table} WHERE ${equal(Object.keys(key))}`;
    const found = sql.get(select, ...Object.values(key));
    if (!found) return null;
    return version ? (found['version'] as Version) : true;
  }
  function insert(table: string, row: Values): boolean {
    const marks = Object.keys(row).map(() => '?');
    const statement = `INSERT INTO ${table} (${Object.keys(row).join(', ')}) VALUES (${marks.join(', ')})
      ON CONFLICT DO NOTHING`;
    return sql.run(statement, ...Object.values(row)) === 1;
  }
  function update(
    table: string,
    key: Values,
    values: Values,
    version: VersionColumn | null,
    expected: Version,
  ): boolean {
    if (version === null) return false;
    const set = Object.keys(values).map((column) => `${column} = ?`);
    const statement = `UPDATE OR IGNORE ${table} SET ${set.join(', ')}
      WHERE ${equal([...Object.keys(key), version.column])}`;
    return sql.run(statement, ...Object.values(values), ...Object.values(key), expected) === 1;
  }
  return {
    // The common case takes one statement. The stored version is read only if nothing was written.
    'documents.write'({ table, key, values, version, expected }: DocumentWrite): 'done' | 'stale' | 'taken' {
      if (expected === null ? insert(table, { ...key, ...values }) : update(table, key, values, version, expected)) {
        return 'done';
      }
      const found = stored(table, key, version);
      if (found === expected) return 'taken';
      return version?.kind === 'token' && found === values[version.column] ? 'done' : 'stale';
    },
    'documents.remove'(
      table: string,
      key: Values,
      version: VersionColumn | null,
      expected: Version | undefined,
    ): 'done' | 'missing' | 'stale' {
      const found = stored(table, key, version);
      if (found === null) return 'missing';
      if (expected !== undefined && found !== expected) return 'stale';
      sql.run(`DELETE FROM ${table} WHERE ${equal(Object.keys(key))}`, ...Object.values(key));
      return 'done';
    },
    'documents.removeExpired': (table: string, key: string, expiry: string, before: number, limit: number): number =>
      sql.run(
        `DELETE FROM ${table} WHERE (${key}) IN (SELECT ${key} FROM ${table} WHERE ${expiry} < ? LIMIT ?)`,
        before,
        limit,
      ),
  };
};
export type DocumentWrites = ReturnType<typeof documentWrites>;

/** Returns what makes a write by columns, with the bytes that it takes of the queue. */
export function toWrite<Item>(collection: Collection<Item>) {
  const { keyed, valuesOf, version } = documentRows(collection);
  const { table } = layoutOf(collection);
  return (item: Item, expected: Version | null, parts: Readonly<Record<string, string>> = {}) => {
    const values = { ...valuesOf(item), ...parts };
    const sizes = Object.values(values).map((value) => (typeof value === 'string' ? value.length : 8));
    const document: DocumentWrite = { table, key: keyed(keyValues(collection, item)), values, version, expected };
    return { document, bytes: 512 + sizes.reduce((sum, size) => sum + size, 0) };
  };
}

type Sql = { readonly where: readonly string[]; readonly values: readonly SQLInputValue[] };

function conditionSql(column: string, condition: Condition): Sql {
  if (typeof condition !== 'object') return { where: [`${column} = ?`], values: [condition] };
  if ('in' in condition) {
    const marks = condition.in.map(() => '?').join(', ');
    return { where: [`${column} IN (${marks})`], values: condition.in };
  }
  if ('beginsWith' in condition) {
    const each = condition.beginsWith.map(() => `${column} >= ? AND ${column} < ?`);
    return {
      where: [each.length > 0 ? `(${each.join(' OR ')})` : 'FALSE'],
      values: condition.beginsWith.flatMap((beginning) => [beginning, `${beginning}\u{10FFFF}`]),
    };
  }
  const { after, from, before, until } = condition;
  const bounds = [
    ['>', after],
    ['>=', from],
    ['<', before],
    ['<=', until],
  ] as const;
  const given = bounds.flatMap(([sign, value]) => (value === undefined ? [] : [[sign, value] as const]));
  return { where: given.map(([sign]) => `${column} ${sign} ?`), values: given.map(([, value]) => value) };
}

function whereSql({ reads }: Layout, where: Where, more: readonly string[] = []): Sql {
  const parts = Object.entries(where).flatMap(([field, condition]) =>
    condition === undefined ? [] : [conditionSql(reads(field), condition)],
  );
  return {
    where: [...more, ...parts.flatMap((part) => part.where)],
    values: parts.flatMap(({ values }) => values),
  };
}

const whereText = (conditions: readonly string[]): string =>
  conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : '';

/** Documents in tables of the data file: a column for each field that is declared, and the body beside them. */
export const createDocuments = (reader: Reader, write: Write<DocumentWrites>): Documents => ({
  collection: (collection) => createCollection(collection, reader, write),
});

function createCollection<Item>(
  collection: Collection<Item>,
  reader: Reader,
  write: Write<DocumentWrites>,
): DocumentCollection<Item> {
  const layout = layoutOf(collection);
  const { table, key: keyColumns, reads } = layout;
  const { all, byKey, keyed, selected, toFields, toItem, version } = documentRows(collection);
  const writeOf = toWrite(collection);
  const cursorType = (field: string) =>
    field === collection.sequence || collection.fields[field]?.type === 'integer' ? 'number' : 'string';

  return {
    async get(key) {
      const row = reader.get(`SELECT ${all} FROM ${table} WHERE ${byKey}`, ...key);
      return row ? toItem(row) : null;
    },
    async find(keys) {
      const unique = new Map(keys.map((key) => [JSON.stringify(key), key]));
      if (unique.size === 0) return [];
      const marks = [...unique.values()].map((key) => `(${key.map(() => '?').join(', ')})`).join(', ');
      const values = [...unique.values()].flat();
      const on = keyColumns.map((column, at) => `${column} = wanted.column${at + 1}`).join(' AND ');
      // SQLite scans the table for a row in a list of rows. A join from the list searches by the key.
      const from = `(VALUES ${marks}) AS wanted CROSS JOIN ${table} ON ${on}`;
      return reader.all(`SELECT ${all} FROM ${from}`, ...values).map(toItem);
    },
    async findUnique(unique, values) {
      const columns = layout.columnsOf(collection.unique?.[unique] ?? []);
      const row = reader.get(`SELECT ${all} FROM ${table} WHERE ${equal(columns)}`, ...values);
      return row ? toItem(row) : null;
    },
    write(item, expected, parts) {
      const { document, bytes } = writeOf(item, expected, parts);
      return write('documents.write', { bytes }, document);
    },
    remove: (key, expected) => write('documents.remove', { bytes: 256 }, table, keyed(key), version, expected),
    async page(query, limit, cursor) {
      const order = layout.expanded(orderOf(collection, query)).filter((field) => !isFixed(query.where?.[field]));
      const columns = order.map(reads);
      const descending = (query.order ?? 'descending') === 'descending';
      const after = cursor === undefined ? [] : keysOf(cursor, ...order.map(cursorType));
      const present = (indexOf(collection, query.index).present ?? []).map(layout.present);
      const { where, values } = whereSql(layout, query.where ?? {}, present);
      const seek = `(${columns.join(', ')}) ${descending ? '<' : '>'} (${columns.map(() => '?').join(', ')})`;
      const rows = reader.all(
        `SELECT ${all}, ${columns.map((column, at) => `${column} AS "order ${at}"`).join(', ')} FROM ${table}
         ${whereText(cursor === undefined ? where : [...where, seek])}
         ORDER BY ${columns.map((column) => `${column}${descending ? ' DESC' : ''}`).join(', ')} LIMIT ?`,
        ...values,
        ...after,
        limit + 1,
      );
      return pageOf(rows, limit, toItem, (row) =>
        cursorAt(...columns.map((_, at) => row[`order ${at}`] as string | number)),
      );
    },
    async select(where, fields) {
      const { where: conditions, values } = whereSql(layout, where);
      const rows = reader.all(`SELECT ${selected(fields)} FROM ${table} ${whereText(conditions)}`, ...values);
      return rows.map(toFields);
    },
    async distinct({ index, where }) {
      const { by, present = [] } = indexOf(collection, index);
      const column = reads(by[0] ?? '');
      const inIndex = present.map(layout.present);
      const least = (...more: readonly string[]): string =>
        `SELECT min(${column}) FROM ${table} ${whereText([...inIndex, ...more])}`;
      const matching = whereSql(layout, where ?? {}, [...inIndex, `${column} = step.value`]);
      // Each step seeks the next value in the index.
      const rows = reader.all(
        `WITH RECURSIVE step (value) AS (
           ${least()} UNION ALL SELECT (${least(`${column} > step.value`)}) FROM step WHERE step.value IS NOT NULL
         )
         SELECT value FROM step WHERE value IS NOT NULL AND EXISTS (SELECT 1 FROM ${table} ${whereText(matching.where)})`,
        ...matching.values,
      );
      return rows.map(({ value }) => value as string | number);
    },
    async part(key, name) {
      const row = reader.get(`SELECT ${name} AS part FROM ${table} WHERE ${byKey}`, ...key);
      return (row?.['part'] as string | null | undefined) ?? null;
    },
    removeExpired(before, limit) {
      const { expiry } = collection;
      if (expiry === undefined) throw new Error(`${collection.name} has no expiry`);
      const load = { bytes: 64, rows: limit };
      return write('documents.removeExpired', load, table, keyColumns.join(', '), reads(expiry.field), before, limit);
    },
  };
}

const isFixed = (condition: Condition | undefined): boolean =>
  typeof condition === 'string' || typeof condition === 'number';
