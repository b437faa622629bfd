import type { Instant } from '@carillon/kernel';
import { placeOf } from '../log/places.ts';
import type { Statements } from '../statements.ts';

/** Records of a partition: those from `from` up to and without `to`. */
export type Span = { readonly topic: string; readonly partition: number; readonly from: number; readonly to: number };

/** Work that the data causes, or repeats, when the product starts on it. */
export type Outstanding = {
  /** Append time of the newest record; null: there is none. */
  readonly newestAt: Instant | null;
  /** What each group has not read yet. */
  readonly unread: readonly (Span & { readonly group: string })[];
  /** Questions to partners that are asked, again if they were under way. */
  readonly questions: number;
  /** Entities that wait by a rule with state. */
  readonly waits: number;
  /** Deliveries that are sent when they are due. */
  readonly waiting: number;
  /** Deliveries that were being sent: in doubt from the start on. */
  readonly sending: number;
  /** Deliveries that were in doubt already, and stay so until a person decides. */
  readonly doubts: number;
};

const UNREAD = `
  SELECT p.topic, p.partition, max(p.start, coalesce(c.next, 0)) AS "from", p.next AS "to" FROM partitions AS p
  LEFT JOIN checkpoints AS c ON c.consumer_group = ? AND c.topic = p.topic AND c.partition = p.partition
  WHERE p.topic = ? AND p.next > max(p.start, coalesce(c.next, 0)) ORDER BY p.partition`;

/** `readers`: which group reads which topic. */
export function outstanding(
  sql: Statements,
  readers: readonly (readonly [group: string, topic: string])[],
): Outstanding {
  const count = (text: string): number => Number(sql.get(text)?.['n'] ?? 0);
  const newest = sql
    .all('SELECT id, next FROM partitions')
    .map((row) =>
      sql.get('SELECT time FROM records WHERE place = ?', placeOf(Number(row['id']), Number(row['next']) - 1)),
    )
    .map((row) => Number(row?.['time'] ?? 0));
  const newestAt = Math.max(0, ...newest);
  return {
    newestAt: newestAt === 0 ? null : newestAt,
    unread: readers.flatMap(([group, topic]) =>
      sql.all(UNREAD, group, topic).map((row) => ({
        group,
        topic,
        partition: Number(row['partition']),
        from: Number(row['from']),
        to: Number(row['to']),
      })),
    ),
    questions: count('SELECT count(*) AS n FROM tasks WHERE done = 0'),
    waits: count('SELECT count(*) AS n FROM rule_states WHERE next_due IS NOT NULL'),
    waiting: count("SELECT count(*) AS n FROM deliveries WHERE state IN ('WAITING', 'COLLECTED')"),
    sending: count("SELECT count(*) AS n FROM deliveries WHERE state = 'SENDING'"),
    doubts: count("SELECT count(*) AS n FROM deliveries WHERE state = 'IN_DOUBT'"),
  };
}
