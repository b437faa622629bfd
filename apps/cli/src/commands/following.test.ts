import { expect, it } from 'vitest';
import { createFollower } from './following.ts';

type Row = { readonly id: string; readonly at: string };
const row = (id: string, second: number): Row => ({
  id,
  at: new Date(1_700_000_000_000 + second * 1000).toISOString(),
});

/** A list of pages of three, newest first; the cursor is the row behind which a page begins. */
function list(...first: readonly Row[]) {
  let rows = [...first];
  let reads = 0;
  const newestFirst = (): readonly Row[] => rows.toSorted((a, b) => (a.at < b.at ? 1 : -1));
  const look = createFollower<Row>(
    async (cursor) => {
      reads += 1;
      const all = newestFirst();
      const from = cursor === undefined ? 0 : all.findIndex(({ id }) => id === cursor) + 1;
      const items = all.slice(from, from + 3);
      return { items, next: all.length > from + 3 ? (items.at(-1)?.id ?? null) : null };
    },
    { keyOf: ({ id }) => id, timeOf: ({ at }) => at },
  );
  return {
    look: async (thorough = false) => (await look(thorough)).map(({ id }) => id),
    add: (...more: readonly Row[]) => (rows = [...rows, ...more]),
    reads: () => reads,
  };
}

it('prints one page first, then only new rows, oldest first, over any number of pages', async () => {
  const { look, add } = list(row('a', 1), row('b', 2), row('c', 3), row('d', 4));
  expect(await look()).toEqual(['b', 'c', 'd']);
  add(...Array.from({ length: 8 }, (_, at) => row(`n${at}`, 10 + at)));
  expect(await look()).toEqual(['n0', 'n1', 'n2', 'n3', 'n4', 'n5', 'n6', 'n7']);
  expect(await look()).toEqual([]);
});

it('finds a late row behind a page of newer known rows', async () => {
  const { look, add } = list(row('a', 1));
  await look();
  add(...Array.from({ length: 7 }, (_, at) => row(`n${at}`, 100 + at)));
  await look();
  add(row('late', 50));
  expect(await look(false)).toEqual([]);
  expect(await look(true)).toEqual(['late']);
  expect(await look(true)).toEqual([]);
});

it('goes behind no first page, and no further than five minutes', async () => {
  const { look, add, reads } = list(...Array.from({ length: 9 }, (_, at) => row(`o${at}`, at)));
  expect(await look(true)).toEqual(['o6', 'o7', 'o8']);
  expect(await look(true)).toEqual([]);
  add(...Array.from({ length: 30 }, (_, at) => row(`n${at}`, 1000 + at)));
  expect(await look(true)).toHaveLength(30);
  const before = reads();
  add(row('p', 2000));
  expect(await look(true)).toEqual(['p']);
  expect(reads() - before).toBe(2);
});
