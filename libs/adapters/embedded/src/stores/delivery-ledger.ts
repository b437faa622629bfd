import { withReceipts, type Delivery, type DeliveryState } from '@carillon/domain';
import { parseJson, stringifyJson } from '@carillon/kernel';
import type { DeliveryLedger } from '@carillon/ports';
import type { Reader } from '../reader.ts';
import type { Transaction, Write } from '../writing/protocol.ts';
import { conditionsOf } from './conditions.ts';
import { cursorAt, keysOf, pageOf } from './cursor.ts';

type DocumentRow = { readonly document: string };
type DeliveryRow = DocumentRow & {
  readonly id: string;
  readonly version: number;
  readonly state: string;
  readonly workspace: string;
  readonly notificationId: string;
  readonly channel: string;
  readonly uniqueId: string;
  readonly notification: string;
  readonly eventId: string;
  readonly recipient: string | null;
  readonly nextAt: number | null;
  readonly leaseUntil: number | null;
  readonly hasUnpublished: number;
  readonly createdAt: number;
  readonly updatedAt: number;
};

export const deliveryWrites = ({ sql }: Transaction) => ({
  /** Null for what was inserted, else the document that holds the slot. */
  'deliveries.insert'(rows: readonly DeliveryRow[]): (string | null)[] {
    const added = new Map<string, number>();
    const holders = rows.map((row) => {
      const inserted = sql.run(
        'INSERT INTO deliveries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING',
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
  'deliveries.replace'(row: DeliveryRow): 'done' | 'stale' {
    const changed = sql.run(
      `UPDATE deliveries SET version = ?, state = ?, notification = ?, event_id = ?, recipient = ?, next_at = ?,
         lease_until = ?, has_unpublished = ?, updated_at = ?, document = ?
       WHERE id = ? AND version = ?`,
      row.version,
      row.state,
      row.notification,
      row.eventId,
      row.recipient,
      row.nextAt,
      row.leaseUntil,
      row.hasUnpublished,
      row.updatedAt,
      row.document,
      row.id,
      row.version - 1,
    );
    return changed === 1 ? 'done' : 'stale';
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

/** The ranges of addresses that begin so; what stands behind the beginning is below the highest character there is. */
const beginsWithOneOf = (beginnings: readonly string[]): readonly [sql: string, ...values: string[]] =>
  beginnings.length === 0
    ? ['false']
    : [
        `(${beginnings.map(() => '(recipient >= ? AND recipient < ?)').join(' OR ')})`,
        ...beginnings.flatMap((beginning) => [beginning, `${beginning}\u{10FFFF}`]),
      ];

const NEWEST_FIRST = 'ORDER BY created_at DESC, id DESC LIMIT ?';
/** No index is by time alone: the newest of each workspace, and of these the newest. Steps as DUE_WORKSPACES does. */
const newestOfEach = (where: string): string => `
  WITH RECURSIVE step (workspace) AS (
    SELECT min(workspace) FROM deliveries INDEXED BY deliveries_workspace
    UNION ALL
    SELECT (SELECT min(workspace) FROM deliveries INDEXED BY deliveries_workspace WHERE workspace > step.workspace)
    FROM step WHERE step.workspace IS NOT NULL
  )
  SELECT found.id, found.created_at, found.document
  FROM step CROSS JOIN deliveries AS found
  WHERE step.workspace IS NOT NULL AND found.rowid IN (
    SELECT rowid FROM deliveries ${where === '' ? 'WHERE' : `${where} AND`} workspace = step.workspace ${NEWEST_FIRST}
  )
  ORDER BY found.created_at DESC, found.id DESC LIMIT ?`;

export const createDeliveryLedger = (reader: Reader, write: Write<DeliveryWrites>): DeliveryLedger => ({
  async insert(deliveries) {
    if (deliveries.length === 0) return [];
    const rows = deliveries.map(toRow);
    const load = { bytes: rows.reduce((sum, row) => sum + sizeOf(row), 0), rows: rows.length };
    const holders = await write('deliveries.insert', load, rows);
    return holders.map((document) =>
      document === null ? { inserted: true } : { inserted: false, holder: read({ document }) },
    );
  },
  async replace(next) {
    const row = toRow(next);
    return write('deliveries.replace', { bytes: sizeOf(row) }, row);
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
  async nextDueAt() {
    const row = reader.get(NEXT_DUE) as { next_at: number | null } | undefined;
    return row?.next_at ?? null;
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
    const { workspace, state, to, uniqueId, eventId } = filter;
    // These are few: an index by state would lead through all that is in it.
    const isOfFew = [to, uniqueId, eventId].some((one) => one !== undefined);
    const [createdAt, id] = cursor === undefined ? [] : keysOf(cursor, 'number', 'string');
    const { where, values } = conditionsOf([
      ['workspace = ?', filter.workspace],
      [isOfFew ? '+state = ?' : 'state = ?', state],
      ['channel = ?', filter.channel],
      ['unique_id = ?', filter.uniqueId],
      ['event_id = ?', filter.eventId],
      ['notification = ?', filter.notification],
      ['created_at >= ?', filter.since],
      ['(created_at, id) < (?, ?)', createdAt, id],
      ...(filter.to === undefined ? [] : [beginsWithOneOf(filter.to)]),
    ]);
    const hasIndex = isOfFew || workspace !== undefined;
    const rows = (
      hasIndex
        ? reader.all(`SELECT id, created_at, document FROM deliveries ${where} ${NEWEST_FIRST}`, ...values, limit + 1)
        : reader.all(newestOfEach(where), ...values, limit + 1, limit + 1)
    ) as (DocumentRow & { id: string; created_at: number })[];
    return pageOf(rows, limit, read, (row) => cursorAt(row.created_at, row.id));
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
});
