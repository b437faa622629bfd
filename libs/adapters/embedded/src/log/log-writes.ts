import type { Transaction } from '../writing/protocol.ts';
import type { PackedRecords } from './packed-records.ts';
import { placeOf } from './places.ts';

/** Appends within the transaction that is open; answers the offset of each. */
export function appendRecords({ sql, now }: Transaction, records: PackedRecords): number[] {
  const next = new Map<number, number>();
  const time = now();
  let from = 0;
  const offsets = records.partitionIds.map((id, at) => {
    const offset =
      next.get(id) ??
      (sql.get('SELECT next FROM partitions WHERE id = ?', id) as { next: number } | undefined)?.next ??
      0;
    const to = records.ends[at] ?? from;
    sql.run(
      'INSERT INTO records (place, time, key, headers, value) VALUES (?, ?, ?, ?, ?)',
      placeOf(id, offset),
      time,
      records.keys[at] ?? '',
      records.headers[at] ?? '{}',
      records.values.subarray(from, to),
    );
    from = to;
    next.set(id, offset + 1);
    return offset;
  });
  for (const [id, offset] of next) sql.run('UPDATE partitions SET next = ? WHERE id = ?', offset, id);
  return offsets;
}

export const logWrites = (transaction: Transaction) => ({
  'log.append': (records: PackedRecords): number[] => appendRecords(transaction, records),

  /**
   * Removes the oldest records of a partition while they are older than `olderThan`, at most `limit`; answers how many.
   * The start moves with them, the next offset stays.
   */
  'log.trim'(partitionId: number, olderThan: number, limit: number): number {
    const { sql } = transaction;
    const row = sql.get('SELECT start, next FROM partitions WHERE id = ?', partitionId) as
      | { start: number; next: number }
      | undefined;
    if (!row) return 0;
    const end = placeOf(partitionId, Math.min(row.next, row.start + limit));
    const kept = sql.get(
      'SELECT place FROM records WHERE place >= ? AND place < ? AND time >= ? ORDER BY place LIMIT 1',
      placeOf(partitionId, row.start),
      end,
      olderThan,
    ) as { place: number } | undefined;
    const from = placeOf(partitionId, row.start);
    const to = kept?.place ?? end;
    if (to <= from) return 0;
    sql.run('DELETE FROM records WHERE place >= ? AND place < ?', from, to);
    sql.run('UPDATE partitions SET start = start + ? WHERE id = ?', to - from, partitionId);
    return to - from;
  },

  /** Removes the records before an offset, at most `limit`; answers how many. */
  'log.cut'(partitionId: number, before: number, limit: number): number {
    const { sql } = transaction;
    const row = sql.get('SELECT start, next FROM partitions WHERE id = ?', partitionId) as
      | { start: number; next: number }
      | undefined;
    const to = Math.min(before, row?.next ?? 0, (row?.start ?? 0) + limit);
    if (!row || to <= row.start) return 0;
    const places = [placeOf(partitionId, row.start), placeOf(partitionId, to)] as const;
    sql.run('DELETE FROM records WHERE place >= ? AND place < ?', ...places);
    sql.run('UPDATE partitions SET start = ? WHERE id = ?', to, partitionId);
    return to - row.start;
  },
});
export type LogWrites = ReturnType<typeof logWrites>;
