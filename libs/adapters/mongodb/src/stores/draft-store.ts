import type { Draft, ResourceRef } from '@carillon/domain';
import type { DraftStore } from '@carillon/ports';
import type { Attempt } from '../attempts.ts';
import type { Collections } from '../collections.ts';
import { insertOnce } from '../compare-and-set.ts';
import { keyOf, type DraftDocument } from '../documents.ts';
import { ComeAgain } from '../failures.ts';
import { afterCursor, equalities, filterOf, pageOf, sortOf, type Order } from '../pages.ts';

/** The id is made from workspace, kind and name, so no write moves a draft in the list. */
const BY_ID: Order = { _id: 'string' };

const idOf = ({ workspace, kind, name }: ResourceRef): string => keyOf(workspace, kind, name);
const read = ({ body }: DraftDocument): Draft => JSON.parse(body) as Draft;
const fieldsOf = (next: Draft) => {
  const body = JSON.stringify(next);
  return { workspace: next.ref.workspace, revision: next.revision, bytes: Buffer.byteLength(body), body };
};

export function createDraftStore({ drafts }: Collections, attempt: Attempt): DraftStore {
  const revisionOf = async (_id: string): Promise<string | null> =>
    (await drafts.findOne({ _id }, { projection: { revision: 1 } }))?.revision ?? null;

  /**
   * Where the write changed nothing, an earlier try of ours whose answer was lost may be what stands there: its revision
   * is used by nobody else. `before`: what would still let us write, so it was seen too early.
   */
  async function whose(_id: string, mine: string, before: string | null): Promise<'done' | 'stale'> {
    const found = await revisionOf(_id);
    if (found === mine) return 'done';
    if (found === before) throw new ComeAgain('a write is not yet held by a majority');
    return 'stale';
  }

  return {
    async find(ref) {
      const found = await attempt(() => drafts.findOne({ _id: idOf(ref) }));
      return found ? read(found) : null;
    },
    replace(next, before) {
      const _id = idOf(next.ref);
      return attempt(async () => {
        if (before === null) {
          if (await insertOnce(drafts, { _id, ...fieldsOf(next) })) return 'done';
          return whose(_id, next.revision, null);
        }
        const { matchedCount } = await drafts.updateOne({ _id, revision: before }, { $set: fieldsOf(next) });
        return matchedCount === 1 ? 'done' : whose(_id, next.revision, before);
      });
    },
    remove(ref, revision) {
      const _id = idOf(ref);
      return attempt(async () => {
        const { deletedCount } = await drafts.deleteOne({ _id, revision });
        if (deletedCount === 1) return 'done';
        const found = await revisionOf(_id);
        if (found === revision) throw new ComeAgain('a write is not yet held by a majority');
        return found === null ? 'done' : 'stale';
      });
    },
    async held(workspace) {
      const summed = { $group: { _id: null, drafts: { $sum: 1 }, bytes: { $sum: '$bytes' } } };
      const [found] = await attempt(() =>
        drafts.aggregate<{ drafts: number; bytes: number }>([{ $match: { workspace } }, summed]).toArray(),
      );
      return { drafts: found?.drafts ?? 0, bytes: found?.bytes ?? 0 };
    },
    async revisions(workspace) {
      const revision = { projection: { _id: 0, revision: 1 } } as const;
      const found = await attempt(() => drafts.find<{ revision: string }>({ workspace }, revision).toArray());
      return found.map((draft) => draft.revision);
    },
    async list(workspace, limit, cursor) {
      const wanted = filterOf<DraftDocument>(equalities({ workspace }), afterCursor(cursor, BY_ID));
      const found = await attempt(() =>
        drafts.find<DraftDocument>(wanted, { sort: sortOf(BY_ID), limit: limit + 1 }).toArray(),
      );
      return pageOf(found, limit, read, BY_ID);
    },
  };
}
