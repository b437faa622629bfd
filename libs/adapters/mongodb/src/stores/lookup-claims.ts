import type { LookupClaim, LookupClaims } from '@carillon/ports';
import type { Attempt } from '../attempts.ts';
import type { Collections } from '../collections.ts';
import { insertEach } from '../compare-and-set.ts';
import type { ClaimDocument } from '../documents.ts';
import { RetryFromStart } from '../failures.ts';
import { afterCursor, filterOf, IN_ONE_ANSWER, pageOf, sortOf, type Order } from '../pages.ts';
import { createAdaptiveBatches } from '../adaptive-batches.ts';

const BY_ID: Order = { _id: 'string' };

export function createLookupClaims({ claims }: Collections, attempt: Attempt): LookupClaims {
  const inRuns = createAdaptiveBatches();

  async function claimRun(wanted: readonly LookupClaim[]): Promise<readonly string[]> {
    const firsts = new Map(wanted.toReversed().map((claim) => [claim.triggerId, claim]));
    const documents = [...firsts.values()].map(({ triggerId, position, at }): ClaimDocument => ({
      _id: triggerId,
      position,
      superseded: [],
      at,
    }));
    const holders = await attempt(async () => {
      const duplicates = await insertEach(claims, documents);
      if (duplicates.size === 0) return new Map(documents.map(({ _id, position }) => [_id, position]));
      // After a lost answer a duplicate may be our own: the position says whose it is.
      const found = await claims.find({ _id: { $in: documents.map(({ _id }) => _id) } }, IN_ONE_ANSWER).toArray();
      if (found.length < documents.length) throw new RetryFromStart('a claim is not yet on a majority of the servers');
      return new Map(found.map(({ _id, position }) => [_id, position]));
    });
    const late = wanted.filter(({ triggerId, position }) => holders.get(triggerId) !== position);
    for (const { triggerId, position } of late) {
      await attempt(() => claims.updateOne({ _id: triggerId }, { $addToSet: { superseded: position } }));
    }
    return wanted.map(({ triggerId, position }) => holders.get(triggerId) ?? position);
  }

  return {
    claim: (wanted) => inRuns(wanted, claimRun),
    async get(triggerId) {
      const found = await attempt(() => claims.findOne({ _id: triggerId }));
      return found && { position: found.position, superseded: found.superseded };
    },
    async list(beginning, limit, cursor) {
      const wanted = filterOf<ClaimDocument>(
        { _id: { $gte: beginning, $lt: `${beginning}\u{10FFFF}` } },
        afterCursor(cursor, BY_ID, 'rising'),
      );
      const found = await attempt(() =>
        claims.find<ClaimDocument>(wanted, { sort: sortOf(BY_ID, 'rising'), limit: limit + 1 }).toArray(),
      );
      return pageOf(found, limit, ({ _id: triggerId, position, at }) => ({ triggerId, position, at }), BY_ID);
    },
  };
}
