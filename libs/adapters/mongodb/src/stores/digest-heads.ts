import { headDueAt, type DigestHead } from '@carillon/domain';
import type { DigestHeads } from '@carillon/ports';
import type { Attempt } from '../attempts.ts';
import type { Collections } from '../collections.ts';
import { compareAndSet, insertOnce, writeToken } from '../compare-and-set.ts';
import type { DigestHeadDocument } from '../documents.ts';
import { RetryFromStart } from '../failures.ts';
import { afterCursor, filterOf, IN_ONE_ANSWER, pageOf, queued, sortOf, type Order } from '../pages.ts';

/** The id is a hash of what items have in common, so no write moves a document in the list. */
const BY_ID: Order = { _id: 'string' };

const read = ({ body }: Pick<DigestHeadDocument, 'body'>): DigestHead => JSON.parse(body) as DigestHead;

const fieldsOf = (next: DigestHead) => ({
  workspace: next.workspace,
  dueAt: headDueAt(next) ?? undefined,
  body: JSON.stringify(next),
});

export function createDigestHeads({ digestHeads: heads }: Collections, attempt: Attempt): DigestHeads {
  /** An id that is taken may be taken by an earlier try of ours whose answer was lost: the token says whose it is. */
  async function insert(next: DigestHead): Promise<'done' | 'stale'> {
    const written = writeToken();
    const { dueAt, ...fields } = fieldsOf(next);
    const document: DigestHeadDocument = {
      _id: next.id,
      version: next.version,
      written,
      ...fields,
      ...(dueAt !== undefined && { dueAt }),
    };
    return attempt(async () => {
      if (await insertOnce(heads, document)) return 'done';
      const found = await heads.findOne({ _id: next.id });
      if (!found) throw new RetryFromStart('a write is not yet held by a majority');
      return found.written === written ? 'done' : 'stale';
    });
  }

  return {
    async get(id) {
      const found = await attempt(() => heads.findOne({ _id: id }));
      return found ? read(found) : null;
    },
    replace: (next) =>
      next.version === 1 ? insert(next) : compareAndSet(heads, attempt, next.id, next.version, fieldsOf(next)),
    dueWorkspaces: (now) => attempt(() => heads.distinct('workspace', { dueAt: queued({ $lte: now }) })),
    async due(workspace, now, limit) {
      const wanted = { workspace: { $eq: workspace }, dueAt: queued({ $lte: now }) };
      const found = await attempt(() =>
        heads.find<DigestHeadDocument>(filterOf(wanted), { ...IN_ONE_ANSWER, sort: { dueAt: 1 }, limit }).toArray(),
      );
      return found.map(read);
    },
    async nextDueAt(until) {
      const wanted = { dueAt: queued({ $lte: until }) };
      const next = await attempt(() => heads.findOne(filterOf<DigestHeadDocument>(wanted), { sort: { dueAt: 1 } }));
      return next?.dueAt ?? null;
    },
    async list(limit, cursor) {
      const wanted = filterOf<DigestHeadDocument>(afterCursor(cursor, BY_ID));
      const found = await attempt(() =>
        heads.find<DigestHeadDocument>(wanted, { sort: sortOf(BY_ID), limit: limit + 1 }).toArray(),
      );
      return pageOf(found, limit, read, BY_ID);
    },
  };
}
