import type { Instant } from '@carillon/kernel';
import { keyValues, type Collection, type Version } from '@carillon/ports';
import type { Statements } from '../statements.ts';
import { layoutOf } from '../stores/document-layout.ts';
import { documentRows } from '../stores/document-rows.ts';
import { documentWrites } from '../stores/documents.ts';

/** Documents of one collection in a file that no process has open, by the statements that the backend runs. */
function documentsIn<Item>(sql: Statements, collection: Collection<Item>) {
  const { table } = layoutOf(collection);
  const { all, byKey, keyed, toItem, valuesOf, version } = documentRows(collection);
  const writes = documentWrites({ sql });
  const keyOf = (item: Item) => keyValues(collection, item);
  const expected = (item: Item): Version | null =>
    collection.version ? ((collection.fields[collection.version.field]?.of(item) ?? null) as Version | null) : null;
  return {
    /** A file of an earlier release may have no such table. */
    exists: () => sql.get("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?", table) !== undefined,
    *items(): Generator<Item> {
      for (const row of sql.iterate(`SELECT ${all} FROM ${table}`)) yield toItem(row);
    },
    find(like: Item): Item | null {
      const row = sql.get(`SELECT ${all} FROM ${table} WHERE ${byKey}`, ...keyOf(like));
      return row ? toItem(row) : null;
    },
    write(item: Item, before: Item | null): boolean {
      const key = keyed(keyOf(item));
      const write = { table, key, values: valuesOf(item), version, expected: before && expected(before) };
      return writes['documents.write'](write) === 'done';
    },
    remove: (item: Item) => writes['documents.remove'](table, keyed(keyOf(item)), version, undefined),
    clear: () => sql.run(`DELETE FROM ${table}`),
  };
}

/** Carries over what the newer folder knows. Returns the number of documents written. */
export function carryDocuments<Item>(
  collection: Collection<Item>,
  sql: Statements,
  newer: Statements,
  configurations: number,
): number {
  const { carryOver } = collection.restore ?? {};
  const [ours, theirs] = [documentsIn(sql, collection), documentsIn(newer, collection)];
  if (!carryOver || !theirs.exists()) return 0;
  if (carryOver === 'all') ours.clear();
  let written = 0;
  for (const item of theirs.items()) {
    const before = carryOver === 'all' ? null : ours.find(item);
    const next = carryOver === 'all' ? item : carryOver(item, before, configurations);
    if (next !== null && ours.write(next, before)) written += 1;
  }
  return written;
}

/** Brings restored documents into the state with which a deployment starts. */
export function settleDocuments<Item>(collection: Collection<Item>, sql: Statements, now: Instant): void {
  const { settle } = collection.restore ?? {};
  const documents = documentsIn(sql, collection);
  if (!settle || !documents.exists()) return;
  // All are read before the first is written.
  for (const item of documents.items().toArray()) {
    const next = settle(item, now);
    if (next === null) documents.remove(item);
    else if (next !== item) documents.write(next, item);
  }
}
