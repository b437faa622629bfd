import type { Delivery } from '@carillon/domain/deliveries';
import { parseJson } from '@carillon/kernel';
import type { Row, Statements } from '../statements.ts';
import { deliveryWrites } from '../stores/delivery-ledger.ts';
import { fromRow, toRow, WHOLE, type DocumentRow } from '../stores/delivery-row.ts';

/** Documents of the ledger in a file that no process has open, by the same statements that the ledger runs. */

/** A file of an older version has the intent within the document. */
const standsApart = (sql: Statements): boolean =>
  sql.get("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'delivery_intents'") !== undefined;
const columnsIn = (sql: Statements): string => (standsApart(sql) ? WHOLE : 'document, NULL AS intent');
const read = (row: Row): Delivery =>
  row['intent'] === null ? (parseJson(String(row['document'])) as unknown as Delivery) : fromRow(row as DocumentRow);

export function readDelivery(sql: Statements, id: string): Delivery | null {
  const row = sql.get(`SELECT ${columnsIn(sql)} FROM deliveries WHERE id = ?`, id);
  return row ? read(row) : null;
}

export function* readDeliveries(sql: Statements): IterableIterator<Delivery> {
  for (const row of sql.iterate(`SELECT ${columnsIn(sql)} FROM deliveries`)) yield read(row);
}

export function addDelivery(sql: Statements, delivery: Delivery): void {
  deliveryWrites({ sql, now: () => delivery.updatedAt })['deliveries.insert']([toRow(delivery)]);
}

/** Replaces `before` by `after`, regardless of versions written in the other file. */
export function rewriteDelivery(sql: Statements, before: Delivery, after: Delivery): void {
  sql.run('UPDATE deliveries SET version = ? WHERE id = ?', after.version - 1, before.id);
  const row = toRow(after);
  deliveryWrites({ sql, now: () => after.updatedAt })['deliveries.replace'](row, null);
  // A move changes no unique_id, but the newer folder may have erased the person.
  sql.run('UPDATE deliveries SET unique_id = ? WHERE id = ?', row.uniqueId, before.id);
}
