import type { Statements } from '../statements.ts';
import type { DocumentRow } from './delivery-lists.ts';

/** A delivery as its table has it: the document, and beside it what is looked for. */
export type DeliveryRow = DocumentRow & {
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
  readonly reason: string;
  readonly person: string;
  readonly rule: string;
  readonly isTest: number;
};

const MOVED = 'version = ?, state = ?, next_at = ?, lease_until = ?, has_unpublished = ?, updated_at = ?, document = ?';
const FACTS = ['notification', 'event_id', 'recipient', 'person', 'rule', 'is_test'];
const SAME_FACTS = FACTS.map((column) => `${column} IS ?`).join(' AND ');

/**
 * SQLite writes each index anew of which an update names a column, though the value stays. So a move names what moves alone: of the
 * indexes that only lists use, it writes that of the state. A change of what lists find by, as an erasure makes it, writes all of them.
 */
export const MOVE = `UPDATE deliveries SET ${MOVED} WHERE id = ? AND version = ? AND reason = ? AND ${SAME_FACTS}`;
const MOVE_FOR_A_REASON = `UPDATE deliveries SET ${MOVED}, reason = ? WHERE id = ? AND version = ? AND ${SAME_FACTS}`;
const REPLACE = `UPDATE deliveries SET ${MOVED}, reason = ?, ${FACTS.map((column) => `${column} = ?`).join(', ')} WHERE id = ? AND version = ?`;

/** Compare-and-set on the version before. */
export function replaceRow(sql: Statements, row: DeliveryRow): 'done' | 'stale' {
  const { version, state, nextAt, leaseUntil, hasUnpublished, updatedAt, document } = row;
  const moved = [version, state, nextAt, leaseUntil, hasUnpublished, updatedAt, document];
  const facts = [row.notification, row.eventId, row.recipient, row.person, row.rule, row.isTest];
  const before = [row.id, version - 1];
  const changed =
    sql.run(MOVE, ...moved, ...before, row.reason, ...facts) ||
    sql.run(MOVE_FOR_A_REASON, ...moved, row.reason, ...before, ...facts) ||
    sql.run(REPLACE, ...moved, row.reason, ...facts, ...before);
  return changed === 1 ? 'done' : 'stale';
}
