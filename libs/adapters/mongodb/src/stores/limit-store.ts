import type { SentToPerson } from '@carillon/domain';
import type { LimitStore } from '@carillon/ports';
import type { Attempt } from '../attempts.ts';
import type { Collections } from '../collections.ts';
import { insertOnce } from '../compare-and-set.ts';
import { keyOf, type LimitDocument } from '../documents.ts';
import { RetryFromStart } from '../failures.ts';
import { afterCursor, equalities, filterOf, pageOf, sortOf, type Order } from '../pages.ts';

/** The id is made from workspace and person, so no write moves a document in the list. */
const BY_ID: Order = { _id: 'string' };

const read = ({ body }: LimitDocument): SentToPerson => JSON.parse(body) as SentToPerson;

const fieldsOf = (next: SentToPerson) => ({
  workspace: next.workspace,
  revision: next.revision,
  keptUntil: next.keptUntil,
  body: JSON.stringify(next),
});

export function createLimitStore({ limitEntries }: Collections, attempt: Attempt): LimitStore {
  /**
   * Where the write changed nothing, an earlier try of ours whose answer was lost may be what stands there: its revision
   * is used by nobody else. `before`: what would still let us write, so it was seen too early.
   */
  async function whose(_id: string, mine: string, before: string | null): Promise<'done' | 'stale'> {
    const found = await limitEntries.findOne({ _id }, { projection: { revision: 1 } });
    if (found?.revision === mine) return 'done';
    if ((found?.revision ?? null) === before) throw new RetryFromStart('a write is not yet held by a majority');
    return 'stale';
  }

  return {
    async find(workspace, person) {
      const found = await attempt(() => limitEntries.findOne({ _id: keyOf(workspace, person) }));
      return found ? read(found) : null;
    },
    replace(next, before) {
      const _id = keyOf(next.workspace, next.person);
      return attempt(async () => {
        if (before === null) {
          if (await insertOnce(limitEntries, { _id, ...fieldsOf(next) })) return 'done';
          return whose(_id, next.revision, null);
        }
        const { matchedCount } = await limitEntries.updateOne({ _id, revision: before }, { $set: fieldsOf(next) });
        return matchedCount === 1 ? 'done' : whose(_id, next.revision, before);
      });
    },
    async list(workspace, limit, cursor) {
      const wanted = filterOf<LimitDocument>(equalities({ workspace }), afterCursor(cursor, BY_ID));
      const found = await attempt(() =>
        limitEntries.find<LimitDocument>(wanted, { sort: sortOf(BY_ID), limit: limit + 1 }).toArray(),
      );
      return pageOf(found, limit, read, BY_ID);
    },
  };
}
