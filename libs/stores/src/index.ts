import type { Instant, Json } from '@carillon/kernel';
import type { AnyCollection, BackendStores, Documents, SourceStore } from '@carillon/ports';
import { auditSeals } from './audit-seals.ts';
import { consents } from './consents.ts';
import { digestHeads } from './digest-heads.ts';
import { drafts } from './drafts.ts';
import { erasures } from './erasures.ts';
import { inbox } from './inbox.ts';
import { jobs } from './jobs.ts';
import { idempotency } from './idempotency-store.ts';
import { limits } from './limits.ts';
import type { Move } from './move.ts';
import { people } from './people.ts';
import { runs } from './runs.ts';
import { secretStore } from './secrets.ts';
import { sourceMove, SOURCES } from './sources.ts';

export { withErasedAddresses, withHashedPeople } from './erased-names.ts';
export { appendBeforeWrite, createSourceStore, SOURCES } from './sources.ts';

/** All stores that need nothing but documents, by the names under which the roles get them. */
const STORES = {
  auditSeals,
  consents,
  digestHeads,
  drafts,
  erasures,
  inbox,
  jobs,
  idempotency,
  limits,
  people,
  runs,
  secretStore,
};

export type DocumentStores = { readonly [Name in keyof typeof STORES]: ReturnType<(typeof STORES)[Name]['create']> };

/** Stores whose items `carillon move` takes along. */
export type MovedStores = DocumentStores & { readonly sources: SourceStore };

/** Stores of a backend besides the log, as the roles use them. */
export type Stores = Omit<BackendStores, 'documents'> & MovedStores;

/** Collections of all stores: what a backend makes when it is opened, and what restore and retention go through. */
export const COLLECTIONS: readonly AnyCollection[] = [
  ...Object.values(STORES).flatMap<AnyCollection>(({ collections }) => collections),
  SOURCES,
];

export const createStores = (documents: Documents): DocumentStores =>
  Object.fromEntries(
    Object.entries(STORES).map(([name, { create }]) => [name, create(documents)]),
  ) as unknown as DocumentStores;

const MOVED = { ...STORES, sources: { moves: { source: sourceMove } } };

type MoveNames<Store> = Store extends { readonly moves: infer Moves } ? keyof Moves & string : never;
/** Names of the lines of `carillon move` that hold items of these stores. */
export type MovedName = { [Name in keyof typeof MOVED]: MoveNames<(typeof MOVED)[Name]> }[keyof typeof MOVED];

/** A line of the file of `carillon move`: how it is read from the stores and written to them. */
export type MovedLine = Move<MovedStores, Json> & { readonly name: MovedName };

/** How the items of these stores are moved, in the order of their lines. */
export const MOVED_LINES: readonly MovedLine[] = Object.entries(MOVED).flatMap(([store, declared]) => {
  const storeOf = (stores: MovedStores) => stores[store as keyof MovedStores];
  // A line holds an item of its own store, as that wrote it.
  const moves = ('moves' in declared ? declared.moves : {}) as unknown as Readonly<
    Record<MovedName, Move<unknown, Json>>
  >;
  return Object.entries(moves).map(([name, move]) => ({
    ...move,
    name: name as MovedName,
    read: (stores: MovedStores) => move.read(storeOf(stores)),
    write: (stores: MovedStores, item: Json) => move.write(storeOf(stores), item),
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
