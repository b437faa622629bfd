import type { Delivery } from '@carillon/domain/deliveries';
import { withReceipts } from '@carillon/domain/receipts';
import { parseJson, stringifyJson } from '@carillon/kernel';
import type { Row, Statements } from '../statements.ts';
import { phaseOf } from './delivery-phases.ts';

/** Columns that a move may change, and the key of the row. */
export type MovedRow = {
  readonly id: string;
  readonly version: number;
  readonly state: string;
  readonly phase: string;
  readonly reason: string;
  readonly nextAt: number | null;
  readonly leaseUntil: number | null;
  readonly hasUnpublished: number;
  readonly updatedAt: number;
  /** All but the intent, of which it holds the id. */
  readonly document: string;
};

/** A delivery as its tables have it: the document, its intent, and beside them what is looked for. */
export type DeliveryRow = MovedRow & {
  readonly workspace: string;
  readonly notificationId: string;
  readonly channel: string;
  readonly uniqueId: string;
  readonly notification: string;
  readonly eventId: string;
  readonly recipient: string | null;
  readonly createdAt: number;
  readonly person: string;
  readonly rule: string;
  readonly isTest: number;
  readonly intent: string;
};

/** Columns from which a delivery is read (see WHOLE): the document, and the intent, which is stored apart. */
export type DocumentRow = { readonly document: string; readonly intent: string; readonly intent_place: number };

export const WHOLE = `document, intent_place,
  (SELECT intent FROM delivery_intents WHERE place = deliveries.intent_place) AS intent`;

export function toMovedRow({ intent, ...moving }: Delivery): MovedRow {
  return {
    id: moving.id,
    version: moving.version,
    state: moving.state,
    phase: phaseOf(moving),
    reason: moving.reason,
    nextAt: moving.nextAt,
    leaseUntil: moving.leaseUntil,
    hasUnpublished: moving.unpublished.length > 0 ? 1 : 0,
    updatedAt: moving.updatedAt,
    document: stringifyJson({ ...moving, intent: intent.id }),
  };
}

export function toRow(delivery: Delivery): DeliveryRow {
  const { slot, intent } = delivery;
  return {
    ...toMovedRow(delivery),
    workspace: slot.workspace,
    notificationId: slot.notificationId,
    channel: slot.channel,
    uniqueId: slot.uniqueId,
    notification: intent.notification,
    eventId: intent.eventId,
    recipient: intent.to,
    createdAt: delivery.createdAt,
    person: intent.person,
    rule: intent.rule,
    isTest: intent.test === undefined ? 0 : 1,
    intent: stringifyJson(intent),
  };
}

export function fromRow({ document, intent }: Pick<DocumentRow, 'document' | 'intent'>): Delivery {
  const moving = parseJson(document) as unknown as Omit<Delivery, 'intent'> & { readonly intent: string };
  const whole = parseJson(intent) as unknown as Delivery['intent'];
  if (whole.id !== moving.intent)
    throw new Error(`delivery ${moving.id} in the data file has no stored message content (intent)`);
  return withReceipts({ ...moving, intent: whole });
}

/** The end of the table of intents. */
const endOf = (sql: Statements): number =>
  Number(sql.get('SELECT max(place) AS place FROM delivery_intents')?.['place'] ?? 0);

function addIntent(sql: Statements, place: number, intent: string): void {
  sql.run('INSERT INTO delivery_intents VALUES (?, ?)', place, intent);
}

const INSERT = `INSERT INTO deliveries (
    id, version, state, workspace, notification_id, channel, unique_id, notification, event_id, recipient, next_at, lease_until,
    has_unpublished, created_at, updated_at, document, phase, reason, person, rule, is_test, intent_place
  ) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`;

/** The place of its intent; null where its id or slot is taken. */
export function insertRow(sql: Statements, row: DeliveryRow): number | null {
  const place = endOf(sql) + 1;
  const inserted = sql.run(
    INSERT,
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
    row.phase,
    row.reason,
    row.person,
    row.rule,
    row.isTest,
    place,
  );
  if (inserted === 0) return null;
  addIntent(sql, place, row.intent);
  return place;
}

const MOVED = 'version = ?, state = ?, next_at = ?, lease_until = ?, has_unpublished = ?, updated_at = ?, document = ?';
const FACTS = ['notification', 'event_id', 'recipient', 'person', 'rule', 'is_test', 'intent_place'];

/**
 * SQLite writes each index anew of which an update names a column, though the value stays. So a move names what moves alone, and writes
 * no index that only lists use; those of phase and reason where these change. Another intent, as a take-over brings it, writes all of them.
 */
export const MOVE = `UPDATE deliveries SET ${MOVED} WHERE id = ? AND version = ? AND intent_place = ? AND phase = ? AND reason = ?`;
const MOVE_ON = `UPDATE deliveries SET ${MOVED}, phase = ?, reason = ? WHERE id = ? AND version = ? AND intent_place = ?`;
const REPLACE = `UPDATE deliveries SET ${MOVED}, phase = ?, reason = ?, ${FACTS.map((column) => `${column} = ?`).join(', ')} WHERE id = ? AND version = ?`;

const movedValues = (row: MovedRow) => [
  row.version,
  row.state,
  row.nextAt,
  row.leaseUntil,
  row.hasUnpublished,
  row.updatedAt,
  row.document,
];

/** Compare-and-set on the version before, of a delivery that keeps the intent at that place. */
export function moveRow(sql: Statements, row: MovedRow, place: number): 'done' | 'stale' {
  const moved = movedValues(row);
  const before = [row.id, row.version - 1, place];
  const found = [row.phase, row.reason];
  const changed = sql.run(MOVE, ...moved, ...before, ...found) || sql.run(MOVE_ON, ...moved, ...found, ...before);
  return changed === 1 ? 'done' : 'stale';
}

/** Replaces a row that may have another intent. Returns the row of the intent. */
export function replaceRow(sql: Statements, row: DeliveryRow): number | 'stale' {
  const before = [row.id, row.version - 1];
  const held: Row | undefined = sql.get('SELECT intent_place FROM deliveries WHERE id = ? AND version = ?', ...before);
  if (!held) return 'stale';
  const place = endOf(sql) + 1;
  addIntent(sql, place, row.intent);
  const facts = [row.notification, row.eventId, row.recipient, row.person, row.rule, row.isTest, place];
  sql.run(REPLACE, ...movedValues(row), row.phase, row.reason, ...facts, ...before);
  sql.run('DELETE FROM delivery_intents WHERE place = ?', held['intent_place'] ?? null);
  return place;
}
