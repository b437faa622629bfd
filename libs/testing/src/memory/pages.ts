import { CarillonError } from '@carillon/kernel';

type Key = readonly [at: number, name: string];

const compare = (a: Key, b: Key): number => b[0] - a[0] || (a[1] < b[1] ? 1 : a[1] > b[1] ? -1 : 0);

function readCursor(cursor: string): Key {
  const [at, name] = cursor.split(' ');
  if (name === undefined || !/^-?\d+$/.test(at ?? '')) {
    throw new CarillonError('invalid_request', 'The cursor is none of this list.');
  }
  return [Number(at), decodeURIComponent(name)];
}

/** One page of these, the greatest key first; a key names its item for as long as the list is read. */
export function pageOf<Row, Item>(
  rows: readonly Row[],
  keyOf: (row: Row) => Key,
  itemOf: (row: Row) => Item,
  limit: number,
  cursor: string | undefined,
): { readonly items: readonly Item[]; readonly next: string | null } {
  const after = cursor === undefined ? null : readCursor(cursor);
  const left = rows
    .filter((row) => after === null || compare(keyOf(row), after) > 0)
    .toSorted((a, b) => compare(keyOf(a), keyOf(b)));
  const page = left.slice(0, limit);
  const last = page.at(-1);
  const [at, name] = last === undefined ? [0, ''] : keyOf(last);
  return { items: page.map(itemOf), next: left.length > limit ? `${at} ${encodeURIComponent(name)}` : null };
}
