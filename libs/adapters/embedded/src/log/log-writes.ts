import type { Instant } from '@carillon/kernel';
import type { Transaction } from '../writing/protocol.ts';
import type { PackedRecords } from './packed-records.ts';
import { offsetOf, placeOf } from './places.ts';

/** Which records of a partition retention removes. */
export type Trim = {
  readonly olderThan: Instant;
  /** The first offset that somebody has not read yet. */
  readonly before: number;
  /** Offsets of records that stay. */
  readonly kept: readonly number[];
  readonly limit: number;
};

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
   * Removes up to `limit` of the oldest records of a partition: those older than `olderThan` and before the offset `before`, except at the
   * offsets `kept`. Returns their number. The partition then starts at its first record, and its next offset is the same.
   */
  'log.trim'(partitionId: number, { olderThan, before, kept, limit }: Trim): number {
    const { sql } = transaction;
    const row = sql.get('SELECT start, next FROM partitions WHERE id = ?', partitionId) as
      | { start: number; next: number }
      | undefined;
    if (!row) return 0;
    const from = placeOf(partitionId, row.start);
    const end = placeOf(partitionId, Math.max(row.start, Math.min(row.next, before)));
    const oldest = sql.all(
      'SELECT place, time FROM records WHERE place >= ? AND place < ? ORDER BY place LIMIT ?',
      from,
      end,
      limit + kept.length,
    ) as { place: number; time: number }[];
    const young = oldest.findIndex(({ time }) => time >= olderThan);
    const keptPlaces = new Set(kept.map((offset) => placeOf(partitionId, offset)));
    const old = (young === -1 ? oldest : oldest.slice(0, young))
      .map(({ place }) => place)
      .filter((place) => !keptPlaces.has(place))
      .slice(0, limit);
    const last = old.at(-1);
    if (last === undefined) return 0;
    const places = JSON.stringify([...keptPlaces]);
    sql.run(
      'DELETE FROM records WHERE place >= ? AND place <= ? AND place NOT IN (SELECT value FROM json_each(?))',
      from,
      last,
      places,
    );
    const first = sql.get(
      'SELECT place FROM records WHERE place >= ? AND place < ? ORDER BY place LIMIT 1',
      from,
      placeOf(partitionId, row.next),
    ) as { place: number } | undefined;
    sql.run(
      'UPDATE partitions SET start = ? WHERE id = ?',
      first === undefined ? row.next : offsetOf(partitionId, first.place),
      partitionId,
    );
    return old.length;
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
