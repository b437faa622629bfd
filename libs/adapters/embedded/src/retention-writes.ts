import type { Transaction } from './writing/protocol.ts';

/** Functions that delete at most `limit` rows older than `olderThan` and return the number of deleted rows. */
export const retentionWrites = ({ sql }: Transaction) => ({
  'retention.leftCohorts': (olderThan: number, limit: number): number =>
    sql.run(
      `DELETE FROM cohort_members WHERE (cohort_key, user_id) IN
         (SELECT cohort_key, user_id FROM cohort_members WHERE inside = 0 AND newest_time < ? LIMIT ?)`,
      olderThan,
      limit,
    ),
  'retention.events': (olderThan: number, limit: number): number =>
    sql.run(
      `DELETE FROM event_rows WHERE (partition, record_offset) IN
         (SELECT partition, record_offset FROM event_rows WHERE at < ? LIMIT ?)`,
      olderThan,
      limit,
    ),
  'retention.tasks': (olderThan: number, limit: number): number =>
    sql.run(
      'DELETE FROM tasks WHERE rowid IN (SELECT rowid FROM tasks WHERE done = 1 AND next_at < ? LIMIT ?)',
      olderThan,
      limit,
    ),
  'retention.claims': (olderThan: number, limit: number): number =>
    sql.run(
      'DELETE FROM lookup_claims WHERE sequence IN (SELECT sequence FROM lookup_claims WHERE at < ? LIMIT ?)',
      olderThan,
      limit,
    ),
  'retention.leases': (endedBefore: number, limit: number): number =>
    sql.run('DELETE FROM leases WHERE name IN (SELECT name FROM leases WHERE until < ? LIMIT ?)', endedBefore, limit),
  'retention.duplicates': (olderThan: number, limit: number): number =>
    sql.run(
      'DELETE FROM duplicate_rows WHERE rowid IN (SELECT rowid FROM duplicate_rows WHERE at < ? LIMIT ?)',
      olderThan,
      limit,
    ),
  'retention.evaluations': (olderThan: number, limit: number): number =>
    sql.run(
      'DELETE FROM evaluation_rows WHERE sequence IN (SELECT sequence FROM evaluation_rows WHERE written_at < ? LIMIT ?)',
      olderThan,
      limit,
    ),
  'retention.fields': (olderThan: number, limit: number): number =>
    sql.run(
      `DELETE FROM field_rows WHERE (stream, partition, path) IN
         (SELECT stream, partition, path FROM field_rows WHERE last_at < ? LIMIT ?)`,
      olderThan,
      limit,
    ),
});
export type RetentionWrites = ReturnType<typeof retentionWrites>;
