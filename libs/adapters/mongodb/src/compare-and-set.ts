import { randomBytes } from 'node:crypto';
import type { Collection, Filter, Document } from 'mongodb';
import type { Attempt } from './attempts.ts';
import { RetryFromStart, duplicatesIn, isDuplicate } from './failures.ts';
import { IN_ONE_ANSWER } from './pages.ts';

/** Returns a token that identifies one write of one caller in the document. */
export const writeToken = (): string => randomBytes(12).toString('base64url');

type Versioned = { readonly _id: string; readonly version: number; readonly written: string };

/** `$set` of all fields that have a value and `$unset` of the others, so that a document leaves the queues it is out of. */
export function assignment(fields: Readonly<Record<string, unknown>>): Document {
  const entries = Object.entries(fields);
  const gone = entries.filter(([, value]) => value === undefined).map(([name]) => [name, ''] as const);
  return {
    $set: Object.fromEntries(entries.filter(([, value]) => value !== undefined)),
    ...(gone.length > 0 && { $unset: Object.fromEntries(gone) }),
  };
}

export type VersionedWrite = {
  readonly id: string;
  readonly version: number;
  readonly fields: Readonly<Record<string, unknown>>;
  /** Further conditions on the stored document. If they do not match, the write is stale. */
  readonly where?: Readonly<Record<string, string>>;
};

const SEEN = { version: 1, written: 1 } as const;
const seenOf = (writes: readonly VersionedWrite[]): Readonly<Record<string, 1>> => ({
  ...SEEN,
  ...Object.fromEntries(writes.flatMap(({ where = {} }) => Object.keys(where).map((field) => [field, 1] as const))),
});

/** Moves one document from the version before `version` to `version`. */
export const compareAndSet = <Kind extends Versioned>(
  collection: Collection<Kind>,
  attempt: Attempt,
  id: string,
  version: number,
  fields: Readonly<Record<string, unknown>>,
): Promise<'done' | 'stale'> => compareAndSetOne(collection, attempt, { id, version, fields });

/**
 * Where the database says that nothing matched, it speaks of the document, not of us: an earlier try whose answer was lost may be what moved
 * it, so the token decides.
 */
export async function compareAndSetOne<Kind extends Versioned>(
  collection: Collection<Kind>,
  attempt: Attempt,
  write: VersionedWrite,
): Promise<'done' | 'stale'> {
  const written = writeToken();
  const { filter, update } = updateOf<Kind>(write, written);
  return attempt(async () => {
    const { matchedCount } = await collection.updateOne(filter, update);
    if (matchedCount === 1) return 'done';
    const found = await collection.findOne<Versioned>({ _id: write.id } as Filter<Kind>, {
      projection: seenOf([write]),
    });
    return whose(found, written, write);
  });
}

function updateOf<Kind extends Versioned>({ id, version, fields, where }: VersionedWrite, written: string) {
  return {
    filter: { ...where, _id: id, version: version - 1 } as unknown as Filter<Kind>,
    update: assignment({ ...fields, version, written }),
  };
}

/**
 * Returns the outcome of a write whose document did not match. The token in the stored document decides whether our
 * write succeeded before.
 */
function whose(
  found: Versioned | null | undefined,
  written: string,
  { version, where = {} }: VersionedWrite,
): 'done' | 'stale' {
  if (found?.written === written) return 'done';
  if (found?.version !== version - 1) return 'stale';
  if (Object.entries(where).some(([field, value]) => Reflect.get(found, field) !== value)) return 'stale';
  // Moved on the primary by somebody, and not yet on a majority: too early to say by whom.
  throw new RetryFromStart('a write is not yet on a majority of the servers');
}

/**
 * Does `compareAndSetOne` for several documents with distinct ids in one request. If not all matched, the stored tokens
 * decide. A document that another writer changed after our write is reported as stale.
 */
export async function compareAndSetEach<Kind extends Versioned>(
  collection: Collection<Kind>,
  attempt: Attempt,
  writes: readonly VersionedWrite[],
): Promise<readonly ('done' | 'stale')[]> {
  const written = writeToken();
  const operations = writes.map((write) => ({ updateOne: updateOf<Kind>(write, written) }));
  return attempt(async () => {
    const { matchedCount } = await collection.bulkWrite(operations, { ordered: false });
    if (matchedCount === writes.length) return writes.map(() => 'done');
    const ids = { _id: { $in: writes.map(({ id }) => id) } } as Filter<Kind>;
    const found = await collection.find<Versioned>(ids, { ...IN_ONE_ANSWER, projection: seenOf(writes) }).toArray();
    const newest = new Map(found.map((one) => [one._id, one]));
    return writes.map((write) => whose(newest.get(write.id), written, write));
  });
}

/**
 * Inserts documents in one round trip and returns the indexes of duplicates. A duplicate may be the document itself
 * from an earlier try: the caller compares the stored token.
 */
export async function insertEach<Kind extends Document>(
  collection: Collection<Kind>,
  documents: readonly Kind[],
): Promise<ReadonlySet<number>> {
  if (documents.length === 0) return new Set();
  try {
    await collection.insertMany(documents as unknown as Parameters<typeof collection.insertMany>[0], {
      ordered: false,
    });
    return new Set();
  } catch (error) {
    return duplicatesIn(error);
  }
}

/** Inserts one; false where its id is taken. */
export async function insertOnce<Kind extends Document>(
  collection: Collection<Kind>,
  document: Kind,
): Promise<boolean> {
  try {
    await collection.insertOne(document as unknown as Parameters<typeof collection.insertOne>[0]);
    return true;
  } catch (error) {
    if (isDuplicate(error)) return false;
    throw error;
  }
}

export type GuardedWrite<Kind> = {
  readonly id: string;
  /** What the stored document must fulfil to be overwritten. */
  readonly guard: Filter<Kind>;
  readonly fields: Readonly<Record<string, unknown>>;
};

/**
 * Writes each document if none with its id exists or the existing one meets the guard. Returns the indexes of the
 * others; the caller reads what is stored. Ids must be distinct.
 */
export async function upsertGuarded<Kind extends { readonly _id: string }>(
  collection: Collection<Kind>,
  writes: readonly GuardedWrite<Kind>[],
): Promise<ReadonlySet<number>> {
  if (writes.length === 0) return new Set();
  const operations = writes.map(({ id, guard, fields }) => ({
    updateOne: {
      filter: { ...guard, _id: id },
      update: assignment(fields),
      upsert: true,
    },
  }));
  try {
    await collection.bulkWrite(operations, { ordered: false });
    return new Set();
  } catch (error) {
    return duplicatesIn(error);
  }
}
