import type { Duration, Instant, Json } from '@carillon/kernel';
import type { NewRecord } from './event-log.ts';

/** A field of a document that queries and indexes use, kept beside the body. */
export type Field<Item> = {
  readonly type: 'text' | 'integer' | 'json';
  /** Returns the value. Undefined leaves the field out, so that the document is in no index that requires it. */
  readonly of: (item: Item) => Json | undefined;
  /**
   * Column in the embedded table. Defaults to the name in snake_case. `read` is an SQL expression for a table of an earlier
   * release that has no such column; it is not written. `present` is the SQL condition under which it has a value.
   */
  readonly column?: string | { readonly read: string; readonly present?: string };
};

/** Fields in ascending order. `_id` stands for the whole key. The index has only documents with all fields of `present`. */
export type Index = { readonly by: readonly string[]; readonly present?: readonly string[] };

export type Fields = Readonly<Record<string, Json | undefined>>;

export type Restore<Item> = {
  /**
   * Returns what to write of a document of the newer folder, or null to keep the restored one. `all`: the documents of the
   * newer folder take the place of all restored ones. `configurations`: number of configurations in the backup.
   */
  readonly carryOver?: 'all' | ((theirs: Item, ours: Item | null, configurations: number) => Item | null);
  /** Returns the document with which the restored deployment starts. Null removes it. */
  readonly settle?: (item: Item, now: Instant) => Item | null;
};

/**
 * A kind of documents. The adapters create the table or collection with its indexes from this declaration, so names and
 * fields of a released collection never change.
 */
export type Collection<Item> = {
  readonly name: string;
  /** Table of the embedded backend. Defaults to the name. */
  readonly table?: string;
  readonly fields: Readonly<Record<string, Field<Item>>>;
  /** Fields that identify a document together. */
  readonly key: readonly string[];
  /**
   * Version that a write compares with the stored document: a `counter` that grows by one per write, or a `token` that
   * no two writes share. Undefined if documents never change.
   */
  readonly version?: { readonly field: string; readonly kind: 'counter' | 'token' };
  /** Unique keys by name: no two documents share their values. A document without one of the values is exempt. */
  readonly unique?: Readonly<Record<string, readonly string[]>>;
  readonly indexes?: Readonly<Record<string, Index>>;
  /**
   * Field with the time from which `removeExpired` may remove the document. `kept`: time from then until retention
   * removes it. Without `kept`, only its store removes it.
   */
  readonly expiry?: { readonly field: string; readonly kept?: Duration };
  /**
   * Column that numbers the rows of a released embedded table. There it takes the place of `_id` in the order of a list, so that
   * documents written first come last.
   */
  readonly sequence?: string;
  /** Texts that are written with the first version, never again, and are read only by `part`. */
  readonly parts?: readonly string[];
  /**
   * Part of an item that is stored as JSON: by default the whole item, in the field `body` (column `document`). Null if
   * the fields hold everything.
   */
  readonly body?: { readonly field?: string; readonly of?: (item: Item) => object } | null;
  /** What `carillon restore` does with the documents. Undefined restores them as they were in the backup. */
  readonly restore?: Restore<Item>;
  /** Makes the item from its fields. Defaults to the body. Fields that an earlier release left out are missing. */
  readonly read?: (fields: Fields) => Item;
};

// oxlint-disable-next-line typescript/no-explicit-any -- a list holds collections of different items
export type AnyCollection = Collection<any>;

/** Condition on a field. An empty list matches no document. */
export type Condition =
  | string
  | number
  | { readonly in: readonly (string | number)[] }
  | { readonly beginsWith: readonly string[] }
  | {
      readonly after?: number | string | undefined;
      readonly from?: number | string | undefined;
      readonly before?: number | string | undefined;
      readonly until?: number | string | undefined;
    };

/** Conditions by field, all of which must hold. Undefined conditions are left out. */
export type Where = Readonly<Record<string, Condition | undefined>>;

export type PageQuery = {
  /**
   * Index that orders the page. Leading fields that `where` sets to one value do not count for the order. Defaults to the
   * order of the keys.
   */
  readonly index?: string;
  readonly where?: Where;
  readonly order?: 'ascending' | 'descending';
};

export type DistinctQuery = { readonly index: string; readonly where?: Where };

export type DocumentPage<Item> = { readonly items: readonly Item[]; readonly next: string | null };

export type Key = readonly (string | number)[];
export type Version = string | number;

/**
 * The documents of one collection. Writes are durable when they resolve, and visible to every later read in any
 * process. A rejected write may have happened.
 */
export type DocumentCollection<Item> = {
  get(key: Key): Promise<Item | null>;
  /** Returns the documents that there are of these keys, each once, in no order. */
  find(keys: readonly Key[]): Promise<readonly Item[]>;
  /** Returns the document with these values of a unique key. */
  findUnique(unique: string, values: Key): Promise<Item | null>;
  /**
   * Writes an item if the stored document has the version `expected`, or if there is none and `expected` is null. A counter is
   * one more than expected. `stale`: another document is there, or none. `taken`: another document has a unique key of
   * the item. A write whose answer was lost resolves to `done` when it is repeated inside, and so does a repeated write with
   * the same token.
   */
  write(
    item: Item,
    expected: Version | null,
    parts?: Readonly<Record<string, string>>,
  ): Promise<'done' | 'stale' | 'taken'>;
  /** Removes a document, of any version if none is expected. `missing`: there is none of this key. */
  remove(key: Key, expected?: Version): Promise<'done' | 'missing' | 'stale'>;
  /** Returns a page in the order of an index. Rejects with `invalid_request` if the cursor is not one of this list. */
  page(query: PageQuery, limit: number, cursor?: string): Promise<DocumentPage<Item>>;
  /** Returns the named fields of all documents that match, without reading bodies. For sets that are small by their nature. */
  select(where: Where, fields: readonly string[]): Promise<readonly Fields[]>;
  /**
   * Returns the values that the first field of an index has in documents that match, each once, in no order. The cost grows
   * with the number of values, not with the number of documents.
   */
  distinct(query: DistinctQuery): Promise<readonly (string | number)[]>;
  /** Returns a part of a document. Null if there is no document, or if it was written without the part. */
  part(key: Key, name: string): Promise<string | null>;
  /** Removes at most `limit` documents whose expiry is before the instant. Resolves to the number removed. */
  removeExpired(before: Instant, limit: number): Promise<number>;
};

/** Stores documents by collection. A backend knows its collections from its start on. */
export type Documents = { collection<Item>(collection: Collection<Item>): DocumentCollection<Item> };

/**
 * Writes an item as `DocumentCollection.write` does, and appends records to the log. If log and documents are one file, both
 * happen in one commit or not at all. Otherwise the records are appended first.
 */
export type WriteWithRecords = <Item>(
  collection: Collection<Item>,
  item: Item,
  expected: Version | null,
  records: readonly NewRecord[],
) => Promise<'done' | 'stale' | 'taken'>;

export const text = <Item>(
  of: (item: Item) => string | null | undefined,
  column?: Field<Item>['column'],
): Field<Item> => ({
  type: 'text',
  of,
  ...(column !== undefined && { column }),
});
export const integer = <Item>(
  of: (item: Item) => number | null | undefined,
  column?: Field<Item>['column'],
): Field<Item> => ({ type: 'integer', of, ...(column !== undefined && { column }) });
export const json = <Item>(of: (item: Item) => Json, column?: Field<Item>['column']): Field<Item> => ({
  type: 'json',
  of,
  ...(column !== undefined && { column }),
});

/** Name of the field with the body, or null if the collection has none. */
export const bodyField = ({ body }: AnyCollection): string | null => (body === null ? null : (body?.field ?? 'body'));

/** The body as JSON. */
export const bodyText = <Item>({ body }: Collection<Item>, item: Item): string =>
  JSON.stringify(body?.of ? body.of(item) : item);

/** Makes an item from the stored fields. */
export const itemOf = <Item>(collection: Collection<Item>, fields: Fields): Item =>
  collection.read ? collection.read(fields) : (JSON.parse(fields[bodyField(collection) ?? ''] as string) as Item);

export const keyValues = <Item>({ key, fields }: Collection<Item>, item: Item): Key =>
  key.map((name) => fields[name]?.of(item) as string | number);

/** Values of a unique key, or null if the item does not have all of them. */
export function uniqueValues<Item>({ fields }: Collection<Item>, names: readonly string[], item: Item): Key | null {
  const values = names.map((name) => fields[name]?.of(item) ?? null);
  return values.includes(null) ? null : (values as unknown as Key);
}

/** Returns an index of a collection. The keys are an index without a name. */
export function indexOf({ name, indexes = {} }: AnyCollection, index: string | undefined): Index {
  const found = index === undefined ? { by: ['_id'] } : indexes[index];
  if (!found) throw new Error(`${name} has no index ${index}`);
  return found;
}

/** Index fields that order a page: leading fields that `where` sets to one value are left out. */
export function orderOf(collection: AnyCollection, { index, where = {} }: PageQuery): readonly string[] {
  const { by } = indexOf(collection, index);
  return by.slice(by.findIndex((field) => typeof where[field] !== 'string' && typeof where[field] !== 'number'));
}
