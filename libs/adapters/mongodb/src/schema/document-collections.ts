import type { AnyCollection, Index } from '@carillon/ports';
import type { WantedIndex } from './wanted.ts';

/** Whether MongoDB keeps a key field beside the id: only if an index needs it. */
export const isStoredKey = ({ key, indexes = {}, body }: AnyCollection, field: string): boolean =>
  key.length > 1 && (body === null || Object.values(indexes).some(({ by }) => by.includes(field)));

/** Name of an index field in a document. */
export const pathOf = ({ key }: AnyCollection, field: string): string =>
  key.length === 1 && key[0] === field ? '_id' : field;

/** The indexes that a collection declares. A unique key is one field with all of its values. */
export function wantedIndexes(collection: AnyCollection): readonly WantedIndex[] {
  const unique = Object.keys(collection.unique ?? {}).map(
    (name) => ({ name, key: { [name]: 1 }, unique: true, where: [name] }) as const,
  );
  const indexOf = ([name, { by, present }]: readonly [string, Index]): WantedIndex => ({
    name,
    key: Object.fromEntries(by.map((field) => [pathOf(collection, field), 1 as const])),
    ...(present && { where: present }),
  });
  return [...unique, ...Object.entries(collection.indexes ?? {}).map(indexOf)];
}
