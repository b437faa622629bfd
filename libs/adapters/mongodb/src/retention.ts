import type { Duration, Instant } from '@carillon/kernel';
import type { RowRetention } from '@carillon/ports';
import type { Collection, Filter } from 'mongodb';
import type { Attempt } from './attempts.ts';
import type { Collections } from './collections.ts';
import { IN_ONE_ANSWER } from './pages.ts';

const BATCH_SIZE = 1000;

/**
 * Deletes rows past their retention in small batches and returns their number. Several processes may run it. TTL
 * indexes are not used, because they would delete without control.
 */
export async function applyRowRetention(
  collections: Collections,
  attempt: Attempt,
  now: Instant,
  policy: RowRetention,
): Promise<number> {
  async function sweep<Kind extends { readonly _id: string }>(
    collection: Collection<Kind>,
    field: string,
    kept: Duration | null,
  ): Promise<number> {
    if (kept === null) return 0;
    const old = { [field]: { $lt: now - kept } } as Filter<Kind>;
    for (let removed = 0; ;) {
      const found = await attempt(() =>
        collection
          .find<{ _id: string }>(old, {
            ...IN_ONE_ANSWER,
            projection: { _id: 1 },
            sort: { [field]: 1 },
            limit: BATCH_SIZE,
          })
          .toArray(),
      );
      const ids = found.map(({ _id }) => _id);
      const some = { _id: { $in: ids } } as Filter<Kind>;
      if (ids.length > 0) removed += (await attempt(() => collection.deleteMany(some))).deletedCount;
      if (ids.length < BATCH_SIZE) return removed;
    }
  }
  const { events, duplicates, evaluations, fields, leases, cohortMembers, tasks, claims } = collections;
  return (
    (await sweep(events, 'at', policy.events)) +
    (await sweep(duplicates, 'at', policy.events)) +
    (await sweep(evaluations, 'writtenAt', policy.evaluations)) +
    (await sweep(fields, 'lastAt', policy.events)) +
    // An expired lease has no holder.
    (await sweep(leases, 'until', 0)) +
    (await sweep(cohortMembers, 'outsideSince', policy.leftCohorts)) +
    (await sweep(tasks, 'endedAt', policy.tasks)) +
    (await sweep(claims, 'at', policy.claims))
  );
}
