import type { Delivery, DeliveryState } from '@carillon/domain/deliveries';
import type { DeliveryLedger, NewRecord } from '@carillon/ports';
import type { EmbeddedLog } from '../log/event-log.ts';
import { appendRecords } from '../log/log-writes.ts';
import { sizeOf as sizeOfRecords, type PackedRecords } from '../log/packed-records.ts';
import type { Reader } from '../reader.ts';
import type { Load, Transaction, Write } from '../writing/protocol.ts';
import { conditionsOf } from './conditions.ts';
import { cursorAt, keysOf, pageOf } from './cursor.ts';
import { deliveryCounts } from './delivery-counts.ts';
import type { KeptSums } from './kept-sums.ts';
import { listRows } from './delivery-lists.ts';
import {
  fromRow,
  insertRow,
  moveRow,
  replaceRow,
  toMovedRow,
  toRow,
  WHOLE,
  type DeliveryRow,
  type DocumentRow,
  type MovedRow,
} from './delivery-row.ts';

type Inserted = { readonly place: number } | { readonly holder: DocumentRow };

export const deliveryWrites = ({ sql, now }: Transaction) => ({
  /** Where the intent of each stands that was inserted, else what holds its slot. */
  'deliveries.insert'(rows: readonly DeliveryRow[]): Inserted[] {
    const added = new Map<string, number>();
    const answers = rows.map((row): Inserted => {
      const place = insertRow(sql, row);
      if (place !== null) {
        added.set(row.state, (added.get(row.state) ?? 0) + 1);
        return { place };
      }
      const holder = sql.get(
        `SELECT ${WHOLE} FROM deliveries
         WHERE id = ? OR (workspace = ? AND notification_id = ? AND channel = ? AND unique_id = ?)`,
        row.id,
        row.workspace,
        row.notificationId,
        row.channel,
        row.uniqueId,
      ) as DocumentRow | undefined;
      if (!holder)
        throw new Error(`internal error: delivery ${row.id} was refused as a duplicate, but no delivery has its slot`);
      return { holder };
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
    return answers;
  },
  /** Moves a delivery that keeps its intent, with the records of outcomes that it tells of: both or neither. */
  'deliveries.move'(row: MovedRow, place: number, outcomes: PackedRecords | null): 'done' | 'stale' {
    const moved = moveRow(sql, row, place);
    if (moved === 'done' && outcomes) appendRecords({ sql, now }, outcomes);
    return moved;
  },
  /** Replaces a row that may have another intent. Returns the row of the intent. */
  'deliveries.replace'(row: DeliveryRow, outcomes: PackedRecords | null): number | 'stale' {
    const place = replaceRow(sql, row);
    if (place !== 'stale' && outcomes) appendRecords({ sql, now }, outcomes);
    return place;
  },
});
type DeliveryWrites = ReturnType<typeof deliveryWrites>;

const sizeOf = (row: MovedRow & { readonly intent?: string }): number =>
  row.document.length + (row.intent?.length ?? 0) + 512;

/**
 * Row ids of intents read or written by this process. Intents are immutable, so the same object has the same row; an
 * unknown object is written.
 */
function createPlaces() {
  const places = new WeakMap<Delivery['intent'], { readonly id: string; readonly place: number }>();
  return {
    remember({ id, intent }: Delivery, place: number): void {
      places.set(intent, { id, place });
    },
    placeOf({ id, intent }: Delivery): number | undefined {
      const known = places.get(intent);
      return known?.id === id ? known.place : undefined;
    },
  };
}

/**
 * There are few workspaces and many deliveries, so the query steps from one workspace to the next instead of reading
 * every row. Frequent queries name their index, because without statistics SQLite chooses an index that reads all rows
 * of a state.
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

export function createDeliveryLedger(
  reader: Reader,
  write: Write<DeliveryWrites>,
  log: Pick<EmbeddedLog, 'pack' | 'arrived'>,
  sums: KeptSums,
): DeliveryLedger {
  const places = createPlaces();
  const read = (row: DocumentRow): Delivery => {
    const delivery = fromRow(row);
    places.remember(delivery, row.intent_place);
    return delivery;
  };

  async function put(next: Delivery, outcomes: PackedRecords | null): Promise<'done' | 'stale'> {
    const place = places.placeOf(next);
    const load = (row: MovedRow): Load => ({
      bytes: sizeOf(row) + (outcomes ? sizeOfRecords(outcomes) : 0),
      rows: 1 + (outcomes?.ends.length ?? 0),
    });
    if (place !== undefined) {
      const row = toMovedRow(next);
      return sums.writing([next], () => write('deliveries.move', load(row), row, place, outcomes));
    }
    const row = toRow(next);
    const at = await sums.writing([next], () => write('deliveries.replace', load(row), row, outcomes));
    if (at === 'stale') return 'stale';
    places.remember(next, at);
    return 'done';
  }

  return {
    async insert(deliveries) {
      if (deliveries.length === 0) return [];
      const rows = deliveries.map(toRow);
      const load = { bytes: rows.reduce((sum, row) => sum + sizeOf(row), 0), rows: rows.length };
      const answers = await sums.writing(deliveries, () => write('deliveries.insert', load, rows));
      return deliveries.map((delivery, at) => {
        const answer = answers[at];
        if (!answer) throw new Error('a delivery has no answer');
        if ('holder' in answer) return { inserted: false, holder: read(answer.holder) };
        places.remember(delivery, answer.place);
        return { inserted: true };
      });
    },
    async replace(next, how) {
      const records: readonly NewRecord[] = how?.telling?.() ?? [];
      const tells = records.length > 0;
      const packed = tells ? log.pack(records) : null;
      const written = tells ? { ...next, unpublished: [] } : next;
      if ((await put(written, packed)) === 'stale') return 'stale';
      if (!tells) return 'done';
      log.arrived(records);
      return 'told';
    },
    async get(id) {
      const row = reader.get(`SELECT ${WHOLE} FROM deliveries WHERE id = ?`, id) as DocumentRow | undefined;
      return row ? read(row) : null;
    },
    async many(ids) {
      // A join from the list searches by the key; `IN` would let SQLite choose to scan the table.
      const rows = reader.all(
        `SELECT ${WHOLE} FROM (SELECT DISTINCT value FROM json_each(?)) AS wanted CROSS JOIN deliveries ON deliveries.id = wanted.value`,
        JSON.stringify(ids),
      ) as DocumentRow[];
      return rows.map(read);
    },
    ...queues(reader, read),
    async list(filter, limit, cursor) {
      const { rows, next } = listRows(reader, filter, limit, cursor);
      return { items: rows.map(read), next };
    },
    async byEvent(eventId) {
      const rows = reader.all(
        `SELECT ${WHOLE} FROM deliveries WHERE event_id = ? ORDER BY created_at, id`,
        eventId,
      ) as DocumentRow[];
      return rows.map(read);
    },
    ...deliveryCounts(reader, sums),
    ...totals(reader),
  };
}

/** The parts of a ledger that read its queues: what is due, what waits, and what a crash left behind. */
function queues(
  reader: Reader,
  read: (row: DocumentRow) => Delivery,
): Pick<
  DeliveryLedger,
  'dueWorkspaces' | 'due' | 'nextDueAt' | 'waiting' | 'leaseExpired' | 'unlisted' | 'unpublished'
> {
  return {
    async dueWorkspaces(now) {
      return (reader.all(DUE_WORKSPACES, now) as { workspace: string }[]).map(({ workspace }) => workspace);
    },
    async due(workspace, now, limit) {
      const rows = reader.all(
        `SELECT ${WHOLE} FROM deliveries INDEXED BY deliveries_due
         WHERE state = 'WAITING' AND workspace = ? AND next_at <= ?
         ORDER BY next_at, rowid LIMIT ?`,
        workspace,
        now,
        limit,
      ) as DocumentRow[];
      return rows.map((row) => ({ delivery: read(row), bytes: row.document.length + row.intent.length }));
    },
    async nextDueAt(until) {
      const row = reader.get(NEXT_DUE) as { next_at: number | null } | undefined;
      const next = row?.next_at ?? null;
      return next !== null && next <= until ? next : null;
    },
    async waiting({ workspace, notificationId }, limit, cursor) {
      const after = cursor === undefined ? [] : keysOf(cursor, 'string', 'number', 'number');
      const rows = reader.all(
        `SELECT notification_id, next_at, rowid AS place, ${WHOLE} FROM deliveries INDEXED BY deliveries_waiting
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
        `SELECT ${WHOLE} FROM deliveries INDEXED BY deliveries_lease
         WHERE state = 'SENDING' AND lease_until < ? ORDER BY lease_until LIMIT ?`,
        now,
        limit,
      ) as DocumentRow[];
      return rows.map(read);
    },
    async unlisted(now, limit) {
      const rows = reader.all(
        `SELECT ${WHOLE} FROM deliveries INDEXED BY deliveries_unlisted
         WHERE state = 'COLLECTED' AND next_at <= ? ORDER BY next_at LIMIT ?`,
        now,
        limit,
      ) as DocumentRow[];
      return rows.map(read);
    },
    async unpublished(olderThan, limit) {
      const rows = reader.all(
        `SELECT ${WHOLE} FROM deliveries INDEXED BY deliveries_unpublished
         WHERE has_unpublished = 1 AND updated_at < ? ORDER BY updated_at LIMIT ?`,
        olderThan,
        limit,
      ) as DocumentRow[];
      return rows.map(read);
    },
  };
}

function totals(reader: Reader): Pick<DeliveryLedger, 'countAddresses' | 'countByState'> {
  return {
    async countAddresses({ workspace, notificationId }, states) {
      const { where, values } = conditionsOf([
        ['workspace = ?', workspace],
        ['notification_id = ?', notificationId],
        ['state IN (SELECT value FROM json_each(?))', JSON.stringify(states)],
        ['is_test = 0'],
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
  };
}
