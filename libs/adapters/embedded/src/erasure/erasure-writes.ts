import { takeOver, type Consents } from '@carillon/domain/consent';
import { stringifyJson } from '@carillon/kernel';
import type { DeliveryRow } from '../stores/delivery-row.ts';
import type { Transaction } from '../writing/protocol.ts';

/** Write after whose commit the file is rewritten (`writable-file.ts`). */
export const REWRITE = 'file.rewrite';

/** A record that is overwritten at its place. */
export type OverwrittenRecord = { readonly place: number; readonly headers: string; readonly value: Uint8Array };

/** A statement over one row, with the values of its parameters. */
export type RowWrite = { readonly sql: string; readonly values: readonly (string | number | null)[] };

const MOVED = 'version = ?, state = ?, next_at = ?, lease_until = ?, has_unpublished = ?, updated_at = ?, document = ?';
const FACTS = 'phase = ?, reason = ?, recipient = ?, person = ?, unique_id = ?';

export const erasureWrites = ({ sql }: Transaction) => ({
  [REWRITE]: (): void => undefined,

  /** Overwrites records. Samples of the fields of their streams go too, because each may be of one of these events. */
  'erasure.records'(records: readonly OverwrittenRecord[], streams: readonly string[]): void {
    for (const stream of streams) sql.run('UPDATE field_rows SET sample = NULL WHERE stream = ?', stream);
    for (const { place, headers, value } of records) {
      sql.run('UPDATE records SET headers = ?, value = ? WHERE place = ?', headers, value, place);
    }
  },

  'erasure.rows'(writes: readonly RowWrite[]): void {
    for (const { sql: statement, values } of writes) sql.run(statement, ...values);
  },

  /** Overwrites a delivery and its intent, unless somebody has written the delivery since it was read. */
  'erasure.delivery'(row: DeliveryRow, place: number): boolean {
    const changed = sql.run(
      `UPDATE deliveries SET ${MOVED}, ${FACTS} WHERE id = ? AND version = ? AND intent_place = ?`,
      row.version,
      row.state,
      row.nextAt,
      row.leaseUntil,
      row.hasUnpublished,
      row.updatedAt,
      row.document,
      row.phase,
      row.reason,
      row.recipient,
      row.person,
      row.uniqueId,
      row.id,
      row.version - 1,
      place,
    );
    if (changed === 1) sql.run('UPDATE delivery_intents SET intent = ? WHERE place = ?', row.intent, place);
    return changed === 1;
  },

  /** Keeps what a person said under another name. What was kept under it before stays, and the newest counts. */
  'erasure.consents'(person: string, renamed: Consents): void {
    const { workspace, person: under } = renamed;
    const documentOf = (name: string): Consents | null => {
      const row = sql.get('SELECT document FROM consents WHERE workspace = ? AND person = ?', workspace, name);
      return typeof row?.['document'] === 'string' ? (JSON.parse(row['document']) as Consents) : null;
    };
    const known = documentOf(person);
    // What the person said since it was read is renamed when everything is looked through again.
    if (known?.version !== renamed.version) return;
    const before = documentOf(under);
    const next = before === null ? renamed : takeOver(before, renamed);
    sql.run('DELETE FROM consents WHERE workspace = ? AND person = ?', workspace, person);
    if (!next) return;
    sql.run('DELETE FROM consents WHERE workspace = ? AND person = ?', workspace, under);
    sql.run(
      'INSERT INTO consents (workspace, person, version, unpublished_since, document) VALUES (?, ?, ?, ?, ?)',
      workspace,
      under,
      next.version,
      next.unpublished.length > 0 ? next.updatedAt : null,
      stringifyJson(next),
    );
  },

  /** Keeps a suppression under another address, without its words. */
  'erasure.suppression'(sequence: number, under: string): void {
    sql.run("UPDATE OR IGNORE suppressions SET address = ?, detail = '' WHERE sequence = ?", under, sequence);
    sql.run('DELETE FROM suppressions WHERE sequence = ? AND address <> ?', sequence, under);
  },
});
export type ErasureWrites = ReturnType<typeof erasureWrites>;
