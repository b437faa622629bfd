import { isDeepStrictEqual } from 'node:util';
import { CarillonError, stringifyJson, type Json } from '@carillon/kernel';
import {
  indexOf,
  keyValues,
  orderOf,
  uniqueValues,
  type Collection,
  type Condition,
  type DocumentCollection,
  type Documents,
  type Key,
  type PageQuery,
  type Version,
  type Where,
} from '@carillon/ports';
import type { Wire } from './wire.ts';

type Stored = { readonly item: unknown; readonly parts: Readonly<Record<string, string>> };

function matches(value: Json | undefined, condition: Condition): boolean {
  if (typeof condition !== 'object') return value === condition;
  if (typeof value !== 'string' && typeof value !== 'number') return false;
  if ('in' in condition) return condition.in.includes(value);
  if ('beginsWith' in condition) return condition.beginsWith.some((start) => String(value).startsWith(start));
  const { after, from, before, until } = condition;
  return (
    (after === undefined || value > after) &&
    (from === undefined || value >= from) &&
    (before === undefined || value < before) &&
    (until === undefined || value <= until)
  );
}

function compare(left: readonly (Json | undefined)[], right: readonly (Json | undefined)[]): number {
  const at = left.findIndex((value, place) => value !== right[place]);
  if (at === -1) return 0;
  const [a, b] = [left[at] ?? '', right[at] ?? ''];
  return a < b ? -1 : 1;
}

/** Documents by collection, in memory. */
export function createMemoryDocuments() {
  const collections = new Map<string, Map<string, Stored>>();
  const storedIn = (name: string): Map<string, Stored> => {
    const found = collections.get(name) ?? new Map<string, Stored>();
    collections.set(name, found);
    return found;
  };
  return {
    /** Items of a collection, for a test that looks. */
    items: (name: string): readonly unknown[] => [...storedIn(name).values()].map(({ item }) => item),
    connect: (wire: Wire): Documents => ({
      collection: (collection) => createCollection(collection, storedIn(collection.name), wire),
    }),
  };
}
export type MemoryDocuments = ReturnType<typeof createMemoryDocuments>;

function valueIn<Item>({ name, fields }: Collection<Item>, item: Item, field: string): Json | undefined {
  const found = fields[field];
  if (!found) throw new Error(`${name} has no field ${field}`);
  return found.of(item);
}

function createCollection<Item>(
  collection: Collection<Item>,
  stored: Map<string, Stored>,
  wire: Wire,
): DocumentCollection<Item> {
  const { name, key: keyNames, version, unique = {}, expiry } = collection;
  const idOf = (key: Key): string => JSON.stringify(key);
  const items = (): readonly Item[] => [...stored.values()].map(({ item }) => item as Item);
  const valueOf = (item: Item, field: string): Json | undefined => valueIn(collection, item, field);
  const isFound = (item: Item, where: Where): boolean =>
    Object.entries(where).every(
      ([field, condition]) => condition === undefined || matches(valueOf(item, field), condition),
    );
  const inIndex = ({ index, where = {} }: PageQuery): readonly Item[] => {
    const { present = [] } = indexOf(collection, index);
    const isPresent = (item: Item) => present.every((field) => (valueOf(item, field) ?? null) !== null);
    return items().filter((item) => isFound(item, where) && isPresent(item));
  };
  const copy = (item: unknown): Item | null => (item === undefined ? null : (structuredClone(item) as Item));
  const versionOf = (item: Item | null): Version | null =>
    item === null ? null : version ? (valueOf(item, version.field) as Version) : 'there';
  const found = (key: Key): Item | null => copy(stored.get(idOf(key))?.item);
  const about = (key: Key, of?: Version | null): string => `${key.join('/')}${(of ?? null) === null ? '' : ` ${of}`}`;

  function isTaken(item: Item): boolean {
    const own = keyValues(collection, item);
    return Object.values(unique).some((names) => {
      const values = uniqueValues(collection, names, item);
      if (values === null) return false;
      return items().some(
        (other) =>
          isDeepStrictEqual(uniqueValues(collection, names, other), values) &&
          !isDeepStrictEqual(keyValues(collection, other), own),
      );
    });
  }

  function write(item: Item, expected: Version | null, parts: Stored['parts']): 'done' | 'stale' | 'taken' {
    const id = idOf(keyValues(collection, item));
    const before = versionOf(found(keyValues(collection, item)));
    if (before !== expected) return version?.kind === 'token' && before === versionOf(item) ? 'done' : 'stale';
    if (isTaken(item)) return 'taken';
    stored.set(id, { item: structuredClone(item), parts: stored.get(id)?.parts ?? parts });
    return 'done';
  }

  function remove(key: Key, expected: Version | undefined): 'done' | 'missing' | 'stale' {
    const before = versionOf(found(key));
    if (before === null) return 'missing';
    if (expected !== undefined && before !== expected) return 'stale';
    stored.delete(idOf(key));
    return 'done';
  }

  return {
    get: (key) => wire.ask(`${name}.get`, () => found(key), { about: () => about(key) }),
    find: (keys) =>
      wire.ask(`${name}.find`, () => [...new Set(keys.map(idOf))].flatMap((id) => copy(stored.get(id)?.item) ?? [])),
    findUnique: (key, values) =>
      wire.ask(`${name}.findUnique`, () =>
        copy(items().find((item) => isDeepStrictEqual(uniqueValues(collection, unique[key] ?? [], item), values))),
      ),
    write: (item, expected, parts = {}) =>
      wire.ask(`${name}.write`, () => write(item, expected, parts), {
        writes: true,
        about: () => about(keyValues(collection, item), versionOf(item)),
      }),
    remove: (key, expected) =>
      wire.ask(`${name}.remove`, () => remove(key, expected), { writes: true, about: () => about(key, expected) }),
    page: (query, limit, cursor) =>
      wire.ask(`${name}.page`, () => {
        const order = orderOf(collection, query).flatMap((field) => (field === '_id' ? keyNames : field));
        const rank = (item: Item) => order.map((field) => valueOf(item, field));
        const direction = query.order === 'ascending' ? 1 : -1;
        const after = cursor === undefined ? null : cursorValues(cursor, order.length);
        const left = inIndex(query)
          .filter((item) => after === null || compare(rank(item), after) * direction > 0)
          .toSorted((one, other) => compare(rank(one), rank(other)) * direction);
        const shown = left.slice(0, limit);
        const last = shown.at(-1);
        const next = left.length > limit && last !== undefined ? stringifyJson(rank(last) as Json) : null;
        return { items: structuredClone(shown), next };
      }),
    select: (where, names) =>
      wire.ask(`${name}.select`, () =>
        items()
          .filter((item) => isFound(item, where))
          .map((item) => Object.fromEntries(names.map((field) => [field, valueOf(item, field)]))),
      ),
    distinct: (query) =>
      wire.ask(`${name}.distinct`, () => {
        const [field = ''] = indexOf(collection, query.index).by;
        return [...new Set(inIndex(query).map((item) => valueOf(item, field) as string | number))];
      }),
    part: (key, part) => wire.ask(`${name}.part`, () => stored.get(idOf(key))?.parts[part] ?? null),
    removeExpired: (before, limit) => {
      const removeExpired = (): number => {
        const expired = items().filter((item) => isFound(item, { [expiry?.field ?? '']: { before } }));
        return expired.slice(0, limit).filter((item) => stored.delete(idOf(keyValues(collection, item)))).length;
      };
      return wire.ask(`${name}.removeExpired`, removeExpired, { writes: true });
    },
  };
}

function cursorValues(cursor: string, length: number): readonly Json[] {
  try {
    const values: unknown = JSON.parse(cursor);
    if (Array.isArray(values) && values.length === length) return values as Json[];
  } catch {
    // Falls through to the one refusal.
  }
  throw new CarillonError('invalid_request', 'The cursor is none of this list.');
}
