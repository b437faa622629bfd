import type { Filter, Collection as MongoCollection, Document } from 'mongodb';
import type { FoundEntry } from '@carillon/ports';
import type { Attempt } from '../attempts.ts';
import { IN_ONE_ANSWER } from '../pages.ts';

const PAGE_SIZE = 200;

/** Reads a collection page by page in the order of its ids, and yields what of each page is of the person. */
export async function* scanDocuments<Kind extends { readonly _id: string }>(
  collection: MongoCollection<Kind>,
  attempt: Attempt,
  pause: () => Promise<unknown>,
  judge: (document: Kind) => FoundEntry | null,
): AsyncGenerator<readonly FoundEntry[]> {
  const page = { ...IN_ONE_ANSWER, sort: { _id: 1 }, limit: PAGE_SIZE } as const;
  for (let last = ''; ;) {
    const after = { _id: { $gt: last } } as Filter<Kind>;
    const documents = await attempt(() => collection.find(after, page).toArray());
    const found = documents.flatMap((document) => judge(document as unknown as Kind) ?? []);
    if (found.length > 0) yield found;
    const end = documents.at(-1);
    if (!end || documents.length < PAGE_SIZE) return;
    last = end._id;
    await pause();
  }
}

/** Changes a document, unless somebody has written it since it was read. */
export async function changeUnwritten<Kind extends { readonly _id: string }>(
  collection: MongoCollection<Kind>,
  attempt: Attempt,
  seen: Document & { readonly _id: string },
  change: Document,
): Promise<void> {
  await attempt(() => collection.updateOne(seen as unknown as Filter<Kind>, change));
}
