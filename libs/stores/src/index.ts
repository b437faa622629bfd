import type { Instant, Json } from '@carillon/kernel';
import type { AnyCollection, BackendStores, Documents } from '@carillon/ports';
import { auditSeals } from './audit-seals.ts';
import { consents } from './consents.ts';
import { digestHeads } from './digest-heads.ts';
import { drafts } from './drafts.ts';
import { inbox } from './inbox.ts';
import { jobs } from './jobs.ts';
import { idempotency } from './idempotency-store.ts';
import { limits } from './limits.ts';
import type { Move } from './move.ts';
import { people } from './people.ts';
import { secretStore } from './secrets.ts';

/** All stores that are written once, by the names under which the roles get them. */
const STORES = { auditSeals, consents, digestHeads, drafts, inbox, jobs, idempotency, limits, people, secretStore };

export type DocumentStores = { readonly [Name in keyof typeof STORES]: ReturnType<(typeof STORES)[Name]['create']> };

/** What a backend keeps besides the log, as the roles get it. */
export type Stores = Omit<BackendStores, 'documents'> & DocumentStores;

/** Collections of all stores: what a backend makes when it is opened, and what restore and retention go through. */
export const COLLECTIONS: readonly AnyCollection[] = Object.values(STORES).flatMap<AnyCollection>(
  ({ collections }) => collections,
);

export const createStores = (documents: Documents): DocumentStores =>
  Object.fromEntries(
    Object.entries(STORES).map(([name, { create }]) => [name, create(documents)]),
  ) as unknown as DocumentStores;

type MoveNames<Store> = Store extends { readonly moves: infer Moves } ? keyof Moves & string : never;
/** Names of the lines of `carillon move` that hold items of these stores. */
export type MovedName = { [Name in keyof typeof STORES]: MoveNames<(typeof STORES)[Name]> }[keyof typeof STORES];

/** A line of the file of `carillon move`: how it is read from the stores and written to them. */
export type MovedLine = Move<DocumentStores, Json> & { readonly name: MovedName };

/** How the items of these stores are moved, in the order of their lines. */
export const MOVED_LINES: readonly MovedLine[] = Object.entries(STORES).flatMap(([store, declared]) => {
  const storeOf = (stores: DocumentStores) => stores[store as keyof DocumentStores];
  // A line holds an item of its own store, as that wrote it.
  const moves = ('moves' in declared ? declared.moves : {}) as unknown as Readonly<
    Record<MovedName, Move<unknown, Json>>
  >;
  return Object.entries(moves).map(([name, move]) => ({
    ...move,
    name: name as MovedName,
    read: (stores: DocumentStores) => move.read(storeOf(stores)),
    write: (stores: DocumentStores, item: Json) => move.write(storeOf(stores), item),
  }));
});

const BATCH_SIZE = 1000;

/** Removes the documents that retention does not keep any longer, in small writes. Resolves to the number removed. */
export async function removeExpired(documents: Documents, now: Instant): Promise<number> {
  let removed = 0;
  for (const collection of COLLECTIONS) {
    const { kept } = collection.expiry ?? {};
    if (kept === undefined) continue;
    for (let last = BATCH_SIZE; last === BATCH_SIZE; removed += last) {
      last = await documents.collection(collection).removeExpired(now - kept, BATCH_SIZE);
    }
  }
  return removed;
}
