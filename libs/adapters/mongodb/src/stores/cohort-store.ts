import { createHash } from 'node:crypto';
import type { Cohort, CohortMember, CohortRef } from '@carillon/domain/cohorts';
import type { CohortStore, FencedWrite } from '@carillon/ports';
import type { Collection } from 'mongodb';
import type { Attempt } from '../attempts.ts';
import type { Collections } from '../collections.ts';
import { upsertGuarded, type GuardedWrite } from '../compare-and-set.ts';
import { keyOf, type CohortDocument, type CohortMemberDocument } from '../documents.ts';
import { RetryFromStart } from '../failures.ts';
import { afterCursor, equalities, filterOf, pageOf, queued, sortOf, type Order } from '../pages.ts';
import { inRuns } from '../adaptive-batches.ts';

const idOf = (...parts: readonly string[]): string =>
  createHash('sha256')
    .update(keyOf(...parts))
    .digest('base64url');
const cohortIdOf = ({ workspace, integration, cohort }: CohortRef): string => idOf(workspace, integration, cohort);

const cohortOf = ({ body }: CohortDocument): Cohort => JSON.parse(body) as Cohort;

const memberOf = (found: CohortMemberDocument): CohortMember => ({
  user: found.user,
  inside: found.insideSince !== undefined,
  since: found.since,
  newest: { time: found.insideSince ?? found.outsideSince ?? 0, offset: found.newestOffset },
  offset: found.offset,
});

const BY_ID: Order = { cohort: 'string' };

export function createCohortStore({ cohorts, cohortMembers }: Collections, attempt: Attempt): CohortStore {
  /** Writes what no later record has written; `refused` where one has. */
  const saveFenced = <Kind extends { readonly _id: string; readonly offset: number }>(
    collection: Collection<Kind>,
    writes: readonly GuardedWrite<Kind>[],
    isRefused: (stored: Kind) => boolean,
  ): Promise<FencedWrite> =>
    attempt(async () => {
      const refused = await upsertGuarded(collection, writes);
      if (refused.size === 0) return 'done';
      const ids = writes.filter((_write, at) => refused.has(at)).map(({ id }) => id);
      const stored = await collection.find({ _id: { $in: ids } } as never).toArray();
      if (stored.some((found) => isRefused(found as unknown as Kind))) return 'refused';
      throw new RetryFromStart('another process is writing the cohort');
    });

  return {
    async load(ref) {
      const found = await attempt(() => cohorts.findOne({ _id: cohortIdOf(ref) }));
      return found ? cohortOf(found) : null;
    },
    save(cohort) {
      const { workspace, integration, logId, partition, offset } = cohort;
      const guard = { logId, partition, offset: { $lte: offset } };
      const fields = { workspace, integration, cohort: cohort.cohort, offset, body: JSON.stringify(cohort) };
      return saveFenced(
        cohorts,
        [{ id: cohortIdOf(cohort), guard, fields }],
        (found) => found.logId !== logId || found.partition !== partition || found.offset > offset,
      );
    },
    async members(ref, users) {
      if (users.length === 0) return [];
      const cohortId = cohortIdOf(ref);
      const ids = users.map((user) => idOf(cohortId, user));
      const found = await attempt(() => cohortMembers.find({ _id: { $in: ids } }).toArray());
      return found.map(memberOf);
    },
    async saveMembers(ref, members) {
      const cohortId = cohortIdOf(ref);
      const offsets = new Map<string, number>();
      const writes = members.map(({ user, inside, since, newest, offset }): GuardedWrite<CohortMemberDocument> => {
        const id = idOf(cohortId, user);
        offsets.set(id, offset);
        return {
          id,
          guard: { offset: { $lte: offset } },
          fields: {
            cohortId,
            user,
            since,
            insideSince: inside ? newest.time : undefined,
            outsideSince: inside ? undefined : newest.time,
            newestOffset: newest.offset,
            offset,
          },
        };
      });
      const isRefused = ({ _id, offset }: CohortMemberDocument): boolean => offset > (offsets.get(_id) ?? 0);
      const answers = await inRuns(writes, async (run) => [await saveFenced(cohortMembers, run, isRefused)]);
      return answers.includes('refused') ? 'refused' : 'done';
    },
    async outdated(ref, before, limit) {
      const found = await attempt(() =>
        cohortMembers
          .find(
            {
              cohortId: { $eq: cohortIdOf(ref) },
              insideSince: queued({ $lte: before.time }),
              $or: [{ insideSince: { $lt: before.time } }, { newestOffset: { $lt: before.offset } }],
            },
            { sort: { insideSince: 1, newestOffset: 1 }, limit },
          )
          .toArray(),
      );
      return found.map(memberOf);
    },
    count: (ref) =>
      attempt(() => cohortMembers.countDocuments({ cohortId: { $eq: cohortIdOf(ref) }, insideSince: queued({}) })),
    async list(workspace, integration, limit, cursor) {
      const wanted = filterOf<CohortDocument>(equalities({ workspace, integration }), afterCursor(cursor, BY_ID));
      const found = await attempt(() =>
        cohorts.find<CohortDocument>(wanted, { sort: sortOf(BY_ID), limit: limit + 1 }).toArray(),
      );
      return pageOf(found, limit, cohortOf, BY_ID);
    },
  };
}
