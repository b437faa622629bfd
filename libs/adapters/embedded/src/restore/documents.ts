import type { Delivery } from '@carillon/domain';
import { parseJson } from '@carillon/kernel';
import type { Statements } from '../statements.ts';
import { deliveryWrites, toRow } from '../stores/delivery-ledger.ts';

/** Documents of the ledger in a file that no process has open, by the same statements that the ledger runs. */

export function readDelivery(sql: Statements, id: string): Delivery | null {
  const row = sql.get('SELECT document FROM deliveries WHERE id = ?', id);
  return row ? (parseJson(String(row['document'])) as unknown as Delivery) : null;
}

export function addDelivery(sql: Statements, delivery: Delivery): void {
  deliveryWrites({ sql, now: () => delivery.updatedAt })['deliveries.insert']([toRow(delivery)]);
}

/** Puts `after` in the place of `before`, whatever versions came between them in another file. */
export function rewriteDelivery(sql: Statements, before: Delivery, after: Delivery): void {
  sql.run('UPDATE deliveries SET version = ? WHERE id = ?', after.version - 1, before.id);
  deliveryWrites({ sql, now: () => after.updatedAt })['deliveries.replace'](toRow(after), null);
}
