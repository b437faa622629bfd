import type { Consents } from '@carillon/domain';
import type { ConsentStore } from '@carillon/ports';
import type { Attempt } from '../attempts.ts';
import type { Collections } from '../collections.ts';
import { compareAndSet, insertOnce, writeToken } from '../compare-and-set.ts';
import { keyOf, type ConsentDocument } from '../documents.ts';
import { RetryFromStart } from '../failures.ts';
import { coalesceRequests } from '../coalesce-requests.ts';
import { afterCursor, equalities, filterOf, IN_ONE_ANSWER, pageOf, queued, sortOf, type Order } from '../pages.ts';

/** The id is made from workspace and person, so no write moves a document in the list. */
const BY_ID: Order = { _id: 'string' };

const consentsOf = ({ body }: ConsentDocument): Consents => JSON.parse(body) as Consents;

const fieldsOf = (next: Consents) => ({
  workspace: next.workspace,
  unpublishedSince: next.unpublished.length > 0 ? next.updatedAt : undefined,
  body: JSON.stringify(next),
});

export function createConsentStore({ consents }: Collections, attempt: Attempt): ConsentStore {
  /** An id that is taken may be taken by an earlier try of ours whose answer was lost: the token says whose it is. */
  async function insert(_id: string, next: Consents): Promise<'done' | 'stale'> {
    const written = writeToken();
    const { unpublishedSince, ...fields } = fieldsOf(next);
    const document: ConsentDocument = {
      _id,
      version: next.version,
      written,
      ...fields,
      ...(unpublishedSince !== undefined && { unpublishedSince }),
    };
    return attempt(async () => {
      if (await insertOnce(consents, document)) return 'done';
      const found = await consents.findOne({ _id });
      if (!found) throw new RetryFromStart('a write is not yet held by a majority');
      return found.written === written ? 'done' : 'stale';
    });
  }

  const findById = async (ids: readonly string[]): Promise<ReadonlyMap<string, Consents>> => {
    const found = await attempt(() => consents.find({ _id: { $in: [...ids] } }, IN_ONE_ANSWER).toArray());
    return new Map(found.map((one) => [one._id, consentsOf(one)]));
  };
  const foundOf = (ids: readonly string[], found: ReadonlyMap<string, Consents>): readonly Consents[] =>
    [...new Set(ids)].flatMap((id) => found.get(id) ?? []);
  const find = coalesceRequests<readonly string[], readonly Consents[]>(
    (ids) => keyOf(...ids),
    async (ids) => foundOf(ids, await findById(ids)),
    async (all) => {
      const found = await findById([...new Set(all.flat())]);
      return all.map((ids) => foundOf(ids, found));
    },
    { oneAtATime: true },
  );

  return {
    async find(workspace, persons) {
      return persons.length === 0 ? [] : find(persons.map((person) => keyOf(workspace, person)));
    },
    replace(next) {
      const id = keyOf(next.workspace, next.person);
      return next.version === 1 ? insert(id, next) : compareAndSet(consents, attempt, id, next.version, fieldsOf(next));
    },
    async unpublished(before, limit) {
      const wanted = { unpublishedSince: queued({ $lt: before }) };
      const found = await attempt(() => consents.find(wanted, { sort: { unpublishedSince: 1 }, limit }).toArray());
      return found.map(consentsOf);
    },
    async list(workspace, limit, cursor) {
      const wanted = filterOf<ConsentDocument>(equalities({ workspace }), afterCursor(cursor, BY_ID));
      const found = await attempt(() =>
        consents.find<ConsentDocument>(wanted, { sort: sortOf(BY_ID), limit: limit + 1 }).toArray(),
      );
      return pageOf(found, limit, consentsOf, BY_ID);
    },
  };
}
