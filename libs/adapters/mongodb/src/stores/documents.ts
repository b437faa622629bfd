import {
  bodyField,
  bodyText,
  indexOf,
  itemOf,
  keyValues,
  orderOf,
  uniqueValues,
  type Collection,
  type Condition,
  type DocumentCollection,
  type Documents,
  type Fields,
  type Key,
  type Where,
} from '@carillon/ports';
import type { Collection as MongoCollection, Db, Document, Filter } from 'mongodb';
import type { Attempt } from '../attempts.ts';
import { assignment, compareAndSetOne, insertOnce, writeToken } from '../compare-and-set.ts';
import { keyOf } from '../documents.ts';
import { RetryFromStart, isDuplicate } from '../failures.ts';
import { coalesceRequests } from '../coalesce-requests.ts';
import { afterCursor, filterOf, IN_ONE_ANSWER, pageOf, queued, sortOf, type Order } from '../pages.ts';
import { isStoredKey, pathOf } from '../schema/document-collections.ts';

type Stored = { readonly _id: string; readonly version: number; readonly written: string } & Fields;

/** A document of one key value has that as its id, so that it can be found by hand. */
const idOf = (key: Key): string => (key.length === 1 ? String(key[0]) : keyOf(...key));

const notYet = (): RetryFromStart => new RetryFromStart('a write is not yet on a majority of the servers');

function queryOf(field: string, condition: Condition): Document {
  if (typeof condition !== 'object') return { [field]: { $eq: condition } };
  if ('in' in condition) return { [field]: { $in: [...condition.in] } };
  if ('beginsWith' in condition) {
    if (condition.beginsWith.length === 0) return { [field]: { $in: [] } };
    const each = condition.beginsWith.map((start) => ({ [field]: { $gte: start, $lt: `${start}\u{10FFFF}` } }));
    return { $or: each };
  }
  const { after, from, before, until } = condition;
  const bounds = Object.entries({ $gt: after, $gte: from, $lt: before, $lte: until });
  const given = bounds.filter(([, value]) => value !== undefined);
  return given.length > 0 ? { [field]: Object.fromEntries(given) } : {};
}

/** Documents in collections: the declared fields, and the body beside them. */
export const createDocuments = (db: Db, attempt: Attempt): Documents => ({
  collection: (collection) => createCollection(collection, db.collection<Stored>(collection.name), attempt),
});

function createCollection<Item>(
  collection: Collection<Item>,
  stored: MongoCollection<Stored>,
  attempt: Attempt,
): DocumentCollection<Item> {
  const { fields, version, parts: partNames = [], expiry } = collection;
  const mapping = createMapping(collection);
  const { path, toFields, toItem, whereOf, presentOf } = mapping;
  const withoutParts = { projection: Object.fromEntries(partNames.map((name) => [name, 0])) };

  async function findById(ids: readonly string[]): Promise<ReadonlyMap<string, Item>> {
    const found = await attempt(() =>
      stored.find<Stored>({ _id: { $in: [...ids] } }, { ...IN_ONE_ANSWER, ...withoutParts }).toArray(),
    );
    return new Map(found.map((document) => [document._id, toItem(document)]));
  }
  const itemsOf = (ids: readonly string[], found: ReadonlyMap<string, Item>): readonly Item[] =>
    [...new Set(ids)].flatMap((id) => found.get(id) ?? []);
  const findMany = coalesceRequests<readonly string[], readonly Item[]>(
    (ids) => keyOf(...ids),
    async (ids) => itemsOf(ids, await findById(ids)),
    async (all) => {
      const found = await findById([...new Set(all.flat())]);
      return all.map((ids) => itemsOf(ids, found));
    },
    { oneAtATime: true },
  );

  return {
    async get(key) {
      const found = await attempt(() => stored.findOne<Stored>({ _id: idOf(key) }, withoutParts));
      return found && toItem(found);
    },
    find: async (keys) => (keys.length === 0 ? [] : findMany(keys.map(idOf))),
    async findUnique(name, values) {
      const wanted = filterOf<Stored>({ [name]: idOf(values) });
      const found = await attempt(() => stored.findOne<Stored>(wanted, withoutParts));
      return found && toItem(found);
    },
    write: createWrite({ collection, stored, attempt, mapping }),
    remove: (key, expected) =>
      attempt(async (again) => {
        const _id = idOf(key);
        const wanted = expected === undefined || !version ? {} : { [version.field]: expected };
        const { deletedCount } = await stored.deleteOne({ ...wanted, _id });
        if (deletedCount === 1) return 'done';
        const found = await stored.findOne<Stored>({ _id }, { projection: { [version?.field ?? '_id']: 1 } });
        // After a lost answer an earlier try may have removed it.
        if (!found) return again ? 'done' : 'missing';
        if (expected === undefined || !version || found[version.field] === expected) throw notYet();
        return 'stale';
      }),
    async page(query, limit, cursor) {
      const direction = (query.order ?? 'descending') === 'descending' ? 'falling' : 'rising';
      const kindOf = (field: string) => (fields[field]?.type === 'integer' ? 'number' : 'string');
      const order: Order = Object.fromEntries(orderOf(collection, query).map((field) => [path(field), kindOf(field)]));
      const wanted = filterBy(
        ...presentOf(query.index),
        ...whereOf(query.where ?? {}),
        afterCursor(cursor, order, direction),
      );
      const options = { ...withoutParts, ...IN_ONE_ANSWER, sort: sortOf(order, direction), limit: limit + 1 };
      const found = await attempt(() => stored.find<Stored>(wanted, options).toArray());
      return pageOf(found, limit, toItem, order);
    },
    async select(where, names) {
      const projection = Object.fromEntries(names.map((name) => [path(name), 1]));
      const options = { ...IN_ONE_ANSWER, projection };
      const found = await attempt(() => stored.find<Stored>(filterBy(...whereOf(where)), options).toArray());
      return found.map(toFields);
    },
    async distinct({ index, where = {} }) {
      const [field = ''] = indexOf(collection, index).by;
      const wanted = filterBy(...presentOf(index), ...whereOf(where));
      return (await attempt(() => stored.distinct(path(field), wanted))) as readonly (string | number)[];
    },
    async part(key, name) {
      const found = await attempt(() => stored.findOne<Stored>({ _id: idOf(key) }, { projection: { [name]: 1 } }));
      return (found?.[name] as string | undefined) ?? null;
    },
    async removeExpired(before, limit) {
      if (expiry === undefined) throw new Error(`${collection.name} has no expiry`);
      const expired = filterOf<Stored>({ [expiry.field]: { $lt: before } });
      const options = { ...IN_ONE_ANSWER, projection: { _id: 1 }, sort: { [expiry.field]: 1 }, limit } as const;
      const found = await attempt(() => stored.find<{ _id: string }>(expired, options).toArray());
      if (found.length === 0) return 0;
      // A document that was written meanwhile may expire later.
      const some = filterBy({ _id: { $in: found.map(({ _id }) => _id) } }, expired);
      return (await attempt(() => stored.deleteMany(some))).deletedCount;
    },
  };
}

type Mapping<Item> = {
  readonly path: (field: string) => string;
  /** Returns the fields of the stored document, without its id. */
  readonly fieldsOf: (item: Item) => Record<string, unknown>;
  readonly toFields: (document: Stored) => Fields;
  readonly toItem: (document: Stored) => Item;
  readonly whereOf: (where: Where) => Document[];
  /** Returns the conditions under which a document is in an index. */
  readonly presentOf: (index: string | undefined) => readonly Document[];
};

/** Maps items of a collection to stored documents and back. */
function createMapping<Item>(collection: Collection<Item>): Mapping<Item> {
  const { fields, key: keyNames, unique = {} } = collection;
  const body = bodyField(collection);
  const path = (field: string): string => pathOf(collection, field);

  function fieldsOf(item: Item): Record<string, unknown> {
    const values: Record<string, unknown> = {};
    for (const [name, { of }] of Object.entries(fields)) {
      if (!keyNames.includes(name) || isStoredKey(collection, name)) values[name] = of(item);
    }
    for (const [name, of] of Object.entries(unique)) {
      const taken = uniqueValues(collection, of, item);
      values[name] = taken === null ? undefined : idOf(taken);
    }
    return body === null ? values : { ...values, [body]: bodyText(collection, item) };
  }

  const toFields = ({ _id, ...rest }: Stored): Fields =>
    keyNames.length === 1 ? { ...rest, [keyNames[0] ?? '']: _id } : rest;
  const toItem = (document: Stored): Item => itemOf(collection, toFields(document));

  const whereOf = (where: Where): Document[] =>
    Object.entries(where).flatMap(([field, condition]) =>
      condition === undefined ? [] : [queryOf(path(field), condition)],
    );
  const presentOf = (index: string | undefined): readonly Document[] =>
    (indexOf(collection, index).present ?? []).map((field) => ({ [field]: queued({}) }));

  return { path, fieldsOf, toFields, toItem, whereOf, presentOf };
}

const filterBy = (...queries: readonly Document[]): Filter<Stored> => {
  const given = queries.filter((query) => Object.keys(query).length > 0);
  return given.length > 1 ? { $and: given } : filterOf<Stored>(...given);
};

type WriteParts<Item> = {
  readonly collection: Collection<Item>;
  readonly stored: MongoCollection<Stored>;
  readonly attempt: Attempt;
  readonly mapping: Mapping<Item>;
};

/** Returns the function that inserts a document, or replaces its expected version. */
function createWrite<Item>({
  collection,
  stored,
  attempt,
  mapping: { fieldsOf },
}: WriteParts<Item>): DocumentCollection<Item>['write'] {
  const { version, unique = {} } = collection;

  /** A key that is taken may be taken by an earlier try whose answer was lost: the token says whose document is there. */
  function insert(item: Item, parts: Readonly<Record<string, string>>): Promise<'done' | 'stale' | 'taken'> {
    const _id = idOf(keyValues(collection, item));
    const written = writeToken();
    const given = Object.entries({ ...fieldsOf(item), ...parts }).filter(([, value]) => value !== undefined);
    const token = version?.kind === 'token' ? version.field : 'written';
    const document = {
      _id,
      ...Object.fromEntries(given),
      ...(version?.kind === 'counter' && { written }),
    } as unknown as Stored;
    return attempt(async () => {
      if (await insertOnce(stored, document)) return 'done';
      const found = await stored.findOne<Stored>({ _id }, { projection: { [token]: 1 } });
      if (found) return version && found[token] === document[token] ? 'done' : 'stale';
      for (const [name] of Object.entries(unique)) {
        const value = document[name];
        if (value !== undefined && (await stored.findOne(filterOf<Stored>({ [name]: value })))) return 'taken';
      }
      throw notYet();
    });
  }

  /** Replaces a document by its token. The token of a write whose answer was lost is in the document. */
  async function replaceToken(item: Item, field: string, expected: string, trying: Attempt): Promise<'done' | 'stale'> {
    const _id = idOf(keyValues(collection, item));
    const next = fieldsOf(item);
    return trying(async () => {
      const wanted = { _id, [field]: expected } as unknown as Filter<Stored>;
      if ((await stored.updateOne(wanted, assignment(next))).matchedCount === 1) return 'done';
      const found = await stored.findOne<Stored>({ _id }, { projection: { [field]: 1 } });
      if (found?.[field] === next[field]) return 'done';
      if (found?.[field] === expected) throw notYet();
      return 'stale';
    });
  }

  async function replace(item: Item, expected: string | number, trying: Attempt): Promise<'done' | 'stale'> {
    if (!version) throw new Error(`documents of ${collection.name} do not change`);
    if (version.kind === 'token') return replaceToken(item, version.field, String(expected), trying);
    const id = idOf(keyValues(collection, item));
    return compareAndSetOne(stored, trying, { id, version: Number(expected) + 1, fields: fieldsOf(item) });
  }

  return async (item, expected, parts = {}) => {
    if (expected === null) return insert(item, parts);
    // `attempt` hides why the server refused, so a duplicate is noticed inside.
    let taken = false;
    const noticing: Attempt = (operation) =>
      attempt(async (again) => {
        taken = false;
        try {
          return await operation(again);
        } catch (error) {
          taken = isDuplicate(error);
          throw error;
        }
      });
    try {
      return await replace(item, expected, noticing);
    } catch (error) {
      if (taken) return 'taken';
      throw error;
    }
  };
}
