import { CarillonError } from '@carillon/kernel';
import { MongoServerError, type Db } from 'mongodb';
import type { Attempt } from '../attempts.ts';
import { RetryFromStart } from '../failures.ts';
import { compareCollection, compareIndexes, descriptionOf } from './differences.ts';
import type { WantedIndex, WantedSchema } from './wanted.ts';

export type SchemaState = {
  readonly missingCollections: readonly string[];
  readonly missingIndexes: readonly { readonly collection: string; readonly index: WantedIndex }[];
  readonly wrong: readonly string[];
};

/** How collections and indexes stand, without touching them. */
export async function inspectSchema(db: Db, schema: WantedSchema): Promise<SchemaState> {
  const listed = await db.listCollections({}, { nameOnly: false }).toArray();
  const byName = new Map(listed.map((collection) => [collection.name, collection]));
  const missingCollections: string[] = [];
  const missingIndexes: { collection: string; index: WantedIndex }[] = [];
  const wrong: string[] = [];
  for (const [name, wanted] of Object.entries(schema)) {
    const collection = byName.get(name);
    if (!collection) missingCollections.push(name);
    else wrong.push(...compareCollection(collection));
    const isPlain = collection && (collection.type === undefined || collection.type === 'collection');
    const found = isPlain ? await db.collection(name).listIndexes().toArray() : [];
    const differences = compareIndexes(name, found, wanted);
    missingIndexes.push(...differences.missing.map((index) => ({ collection: name, index })));
    wrong.push(...differences.wrong);
  }
  return { missingCollections, missingIndexes, wrong };
}

const NAMESPACE_EXISTS = 48;

/**
 * Creates missing collections and indexes. Refuses differing ones with `store_differs`, because a wrong unique index
 * could allow a message to be sent twice. Never drops or changes existing ones. Several processes may run it.
 */
export async function establishSchema(db: Db, schema: WantedSchema, attempt: Attempt): Promise<void> {
  const state = await attempt(() => inspectSchema(db, schema));
  refuse(state.wrong);
  for (const name of state.missingCollections) {
    await attempt(() => db.createCollection(name).catch(unless(NAMESPACE_EXISTS)));
  }
  const wanted = Map.groupBy(state.missingIndexes, ({ collection }) => collection);
  for (const [collection, missing] of wanted) {
    await makeIndexes(
      db,
      collection,
      missing.map(({ index }) => index),
      attempt,
    );
  }
  const made = await attempt(() => inspectSchema(db, schema));
  refuse([...made.wrong, ...made.missingIndexes.map(({ collection, index }) => `${collection} lacks ${index.name}`)]);
}

/** Another process may have made them meanwhile, and two that make one index at once may both be told that it failed. */
async function makeIndexes(
  db: Db,
  collection: string,
  missing: readonly WantedIndex[],
  attempt: Attempt,
): Promise<void> {
  let last: unknown;
  try {
    await attempt(async () => {
      try {
        await db.collection(collection).createIndexes(missing.map(descriptionOf));
      } catch (error) {
        if (!(error instanceof MongoServerError)) throw error;
        last = error;
        const found = await db.collection(collection).listIndexes().toArray();
        const differences = compareIndexes(collection, found, missing);
        refuse(differences.wrong);
        if (differences.missing.length > 0) throw new RetryFromStart(`indexes of ${collection} were not made`);
      }
    });
  } catch (error) {
    if (!(last instanceof MongoServerError)) throw error;
    const names = missing.map(({ name }) => name).join(', ');
    throw new CarillonError(
      'store_differs',
      `${collection}: the database does not make index ${names} (code ${String(last.code)}); if documents that are ` +
        'there already break a unique one, look at them first',
      {},
      { cause: error },
    );
  }
}

function refuse(wrong: readonly string[]): void {
  if (wrong.length === 0) return;
  throw new CarillonError(
    'store_differs',
    `${wrong.join('; ')}. Carillon never drops or changes an existing index: do that by hand, then start again`,
  );
}

const unless =
  (code: number) =>
  (error: unknown): void => {
    if (!(error instanceof MongoServerError && error.code === code)) throw error;
  };
