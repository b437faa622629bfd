import { withReceipts, type Delivery, type DeliveryState } from '@carillon/domain';
import { parseJson, stringifyJson } from '@carillon/kernel';
import type { DeliveryLedger, NewRecord } from '@carillon/ports';
import type { EmbeddedLog } from '../log/event-log.ts';
import { appendRecords } from '../log/log-writes.ts';
import { sizeOf as sizeOfRecords, type PackedRecords } from '../log/packed-records.ts';
import type { Reader } from '../reader.ts';
import type { Transaction, Write } from '../writing/protocol.ts';
import { conditionsOf } from './conditions.ts';
import { cursorAt, keysOf, pageOf } from './cursor.ts';
import { deliveryCounts } from './delivery-counts.ts';
import { listRows, type DocumentRow } from './delivery-lists.ts';
import { replaceRow, type DeliveryRow } from './delivery-row.ts';

export const deliveryWrites = ({ sql, now }: Transaction) => ({
  /** Null for what was inserted, else the document that holds the slot. */
  'deliveries.insert'(rows: readonly DeliveryRow[]): (string | null)[] {
    const added = new Map<string, number>();
    const holders = rows.map((row) => {
      const inserted = sql.run(
        'INSERT INTO deliveries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING',
        row.id,
        row.version,
        row.state,
        row.workspace,
        row.notificationId,
        row.channel,
        row.uniqueId,
        row.notification,
        row.eventId,
        row.recipient,
        row.nextAt,
        row.leaseUntil,
        row.hasUnpublished,
        row.createdAt,
        row.updatedAt,
        row.document,
        row.reason,
        row.person,
        row.rule,
        row.isTest,
      );
      if (inserted === 1) {
        added.set(row.state, (added.get(row.state) ?? 0) + 1);
        return null;
      }
      const holder = sql.get(
        `SELECT document FROM deliveries
         WHERE id = ? OR (workspace = ? AND notification_id = ? AND channel = ? AND unique_id = ?)`,
        row.id,
        row.workspace,
        row.notificationId,
        row.channel,
        row.uniqueId,
      ) as DocumentRow | undefined;
      if (!holder) throw new Error(`delivery ${row.id} was refused and nothing holds its slot`);
      return holder.document;
    });
    // Here and not by a trigger, which took a quarter of the time of an insert.
    for (const [state, count] of added) {
      sql.run(
        `INSERT INTO delivery_counts VALUES (?, ?)
         ON CONFLICT DO UPDATE SET deliveries = deliveries + excluded.deliveries`,
        state,
        count,
      );
    }
    return holders;
  },
  /** With the records of its outcomes, where it tells of them: both or neither. */
  'deliveries.replace'(row: DeliveryRow, outcomes: PackedRecords | null): 'done' | 'told' | 'stale' {
    if (replaceRow(sql, row) === 'stale') return 'stale';
    if (!outcomes) return 'done';
    appendRecords({ sql, now }, outcomes);
    return 'told';
  },
});
type DeliveryWrites = ReturnType<typeof deliveryWrites>;

const read = (row: DocumentRow): Delivery => withReceipts(parseJson(row.document) as unknown as Delivery);
const sizeOf = (row: DeliveryRow): number => row.document.length + 512;

/**
 * Workspaces are few and deliveries many: steps from one workspace to the next instead of reading every row. What runs
 * all the time names its index: without statistics SQLite takes one that reads everything in a state.
 */
const DUE_WORKSPACES = `
  WITH RECURSIVE step (workspace) AS (
    SELECT min(workspace) FROM deliveries INDEXED BY deliveries_due WHERE state = 'WAITING'
    UNION ALL
    SELECT (SELECT min(workspace) FROM deliveries INDEXED BY deliveries_due WHERE state = 'WAITING' AND workspace > step.workspace)
    FROM step WHERE step.workspace IS NOT NULL
  )
  SELECT workspace FROM step WHERE workspace IS NOT NULL AND EXISTS (
    SELECT 1 FROM deliveries INDEXED BY deliveries_due WHERE state = 'WAITING' AND deliveries.workspace = step.workspace AND next_at <= ?
  )`;

const NEXT_DUE = `
  WITH RECURSIVE step (workspace) AS (
    SELECT min(workspace) FROM deliveries INDEXED BY deliveries_due WHERE state = 'WAITING'
    UNION ALL
    SELECT (SELECT min(workspace) FROM deliveries INDEXED BY deliveries_due WHERE state = 'WAITING' AND workspace > step.workspace)
    FROM step WHERE step.workspace IS NOT NULL
  )
  SELECT min((
    SELECT next_at FROM deliveries INDEXED BY deliveries_due
    WHERE state = 'WAITING' AND deliveries.workspace = step.workspace AND next_at IS NOT NULL ORDER BY next_at LIMIT 1
  )) AS next_at
  FROM step WHERE workspace IS NOT NULL`;

export const createDeliveryLedger = (
  reader: Reader,
  write: Write<DeliveryWrites>,
  log: Pick<EmbeddedLog, 'pack' | 'arrived'>,
): DeliveryLedger => ({
  async insert(deliveries) {
    if (deliveries.length === 0) return [];
    const rows = deliveries.map(toRow);
    const load = { bytes: rows.reduce((sum, row) => sum + sizeOf(row), 0), rows: rows.length };
    const holders = await write('deliveries.insert', load, rows);
    return holders.map((document) =>
      document === null ? { inserted: true } : { inserted: false, holder: read({ document }) },
    );
  },
  async replace(next, how) {
    const records: readonly NewRecord[] = how?.telling?.() ?? [];
    if (records.length === 0) {
      const row = toRow(next);
      return write('deliveries.replace', { bytes: sizeOf(row) }, row, null);
    }
    const row = toRow({ ...next, unpublished: [] });
    const packed = log.pack(records);
    const load = { bytes: sizeOf(row) + sizeOfRecords(packed), rows: 1 + records.length };
    const answer = await write('deliveries.replace', load, row, packed);
    if (answer === 'told') log.arrived(records);
    return answer;
  },
  async get(id) {
    const row = reader.get('SELECT document FROM deliveries WHERE id = ?', id) as DocumentRow | undefined;
    return row ? read(row) : null;
  },
  async dueWorkspaces(now) {
    return (reader.all(DUE_WORKSPACES, now) as { workspace: string }[]).map(({ workspace }) => workspace);
  },
  async due(workspace, now, limit) {
    const rows = reader.all(
      `SELECT document FROM deliveries INDEXED BY deliveries_due
       WHERE state = 'WAITING' AND workspace = ? AND next_at <= ?
       ORDER BY next_at, rowid LIMIT ?`,
      workspace,
      now,
      limit,
    ) as DocumentRow[];
    return rows.map((row) => ({ delivery: read(row), bytes: row.document.length }));
  },
  async nextDueAt(until) {
    const row = reader.get(NEXT_DUE) as { next_at: number | null } | undefined;
    const next = row?.next_at ?? null;
    return next !== null && next <= until ? next : null;
  },
  async waiting({ workspace, notificationId }, limit, cursor) {
    const after = cursor === undefined ? [] : keysOf(cursor, 'string', 'number', 'number');
    const rows = reader.all(
      `SELECT notification_id, next_at, rowid AS place, document FROM deliveries INDEXED BY deliveries_waiting
       WHERE state = 'WAITING' AND workspace = ? ${notificationId === undefined ? '' : 'AND notification_id = ?'}
         ${cursor === undefined ? '' : 'AND (notification_id, next_at, rowid) > (?, ?, ?)'}
       ORDER BY notification_id, next_at, rowid LIMIT ?`,
      workspace,
      ...(notificationId === undefined ? [] : [notificationId]),
      ...after,
      limit + 1,
    ) as (DocumentRow & { notification_id: string; next_at: number; place: number })[];
    return pageOf(rows, limit, read, (row) => cursorAt(row.notification_id, row.next_at, row.place));
  },
  async leaseExpired(now, limit) {
    const rows = reader.all(
      `SELECT document FROM deliveries INDEXED BY deliveries_lease
       WHERE state = 'SENDING' AND lease_until < ? ORDER BY lease_until LIMIT ?`,
      now,
      limit,
    ) as DocumentRow[];
    return rows.map(read);
  },
  async unlisted(now, limit) {
    const rows = reader.all(
      `SELECT document FROM deliveries INDEXED BY deliveries_unlisted
       WHERE state = 'COLLECTED' AND next_at <= ? ORDER BY next_at LIMIT ?`,
      now,
      limit,
    ) as DocumentRow[];
    return rows.map(read);
  },
  async unpublished(olderThan, limit) {
    const rows = reader.all(
      `SELECT document FROM deliveries INDEXED BY deliveries_unpublished
       WHERE has_unpublished = 1 AND updated_at < ? ORDER BY updated_at LIMIT ?`,
      olderThan,
      limit,
    ) as DocumentRow[];
    return rows.map(read);
  },
  async list(filter, limit, cursor) {
    const { rows, next } = listRows(reader, filter, limit, cursor);
    return { items: rows.map(read), next };
  },
  async byEvent(eventId) {
    const rows = reader.all(
      'SELECT document FROM deliveries WHERE event_id = ? ORDER BY created_at, id',
      eventId,
    ) as DocumentRow[];
    return rows.map(read);
  },
  async countAddresses({ workspace, notificationId }, states) {
    const { where, values } = conditionsOf([
      ['workspace = ?', workspace],
      ['notification_id = ?', notificationId],
      ['state IN (SELECT value FROM json_each(?))', JSON.stringify(states)],
      ['json_extract(document, ?) IS NULL', '$.intent.test'],
    ]);
    const row = reader.get(`SELECT count(DISTINCT recipient) AS told FROM deliveries ${where}`, ...values);
    return (row as { told: number }).told;
  },
  ...deliveryCounts(reader),
  async countByState() {
    const rows = reader.all('SELECT state, deliveries FROM delivery_counts WHERE deliveries > 0') as {
      state: DeliveryState;
      deliveries: number;
    }[];
    return Object.fromEntries(rows.map(({ state, deliveries }) => [state, deliveries]));
  },
});

export const toRow = (delivery: Delivery): DeliveryRow => ({
  id: delivery.id,
  version: delivery.version,
  state: delivery.state,
  workspace: delivery.slot.workspace,
  notificationId: delivery.slot.notificationId,
  channel: delivery.slot.channel,
  uniqueId: delivery.slot.uniqueId,
  notification: delivery.intent.notification,
  eventId: delivery.intent.eventId,
  recipient: delivery.intent.to,
  nextAt: delivery.nextAt,
  leaseUntil: delivery.leaseUntil,
  hasUnpublished: delivery.unpublished.length > 0 ? 1 : 0,
  createdAt: delivery.createdAt,
  updatedAt: delivery.updatedAt,
  document: stringifyJson(delivery),
  reason: delivery.reason,
  person: delivery.intent.person,
  rule: delivery.intent.rule,
  isTest: delivery.intent.test === undefined ? 0 : 1,
});
