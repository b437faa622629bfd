import { expect, test } from 'vitest';
import { newestFirst, oldestFirst, pageOfAll } from './whole-lists.ts';

type Row = { readonly at: number; readonly id: string };
const rows: readonly Row[] = [3, 1, 1, 1, 2].map((at, place) => ({ at, id: `row ${place}` }));

/** More than any list here has: a cursor that goes nowhere ends the test, and does not keep it. */
const MAX_PAGES = 20;

/** Every page, with rows that come in between them. */
function pages(all: readonly Row[], placeOf: (row: Row) => string, limit: number, later: (page: number) => Row[]) {
  const seen: string[][] = [];
  let there = all;
  for (let cursor: string | null = ''; cursor !== null && seen.length < MAX_PAGES;) {
    const page: { readonly rows: readonly Row[]; readonly next: string | null } = pageOfAll(there, placeOf, {
      limit,
      cursor,
    });
    seen.push(page.rows.map(({ id }) => id));
    cursor = page.next;
    there = [...there, ...later(seen.length)];
  }
  return seen;
}

test('A list read page by page shows each row once in a stable order, even if timestamps are equal or rows change meanwhile', () => {
  const newest = ({ at, id }: Row): string => newestFirst(at, id);
  const oldest = ({ at, id }: Row): string => oldestFirst(at, id);
  const latest = (page: number): Row[] => [{ at: 10 + page, id: `late ${page}` }];
  expect(pages(rows, newest, 1, latest)).toEqual([['row 0'], ['row 4'], ['row 1'], ['row 2'], ['row 3']]);
  expect(pages(rows, newest, 2, latest)).toEqual([['row 0', 'row 4'], ['row 1', 'row 2'], ['row 3']]);
  expect(pages(rows, oldest, 2, () => [])).toEqual([['row 1', 'row 2'], ['row 3', 'row 4'], ['row 0']]);
  expect(pages(rows, oldest, 5, () => [])).toHaveLength(1);
  expect(pages([], oldest, 5, () => [])).toEqual([[]]);
});

test('A deleted row does not move the other rows of a list', () => {
  const oldest = ({ at, id }: Row): string => oldestFirst(at, id);
  const { next } = pageOfAll(rows, oldest, { limit: 2 });
  const left = rows.filter(({ id }) => id !== 'row 1' && id !== 'row 2');
  expect(pageOfAll(left, oldest, { limit: 2, cursor: next ?? '' }).rows.map(({ id }) => id)).toEqual([
    'row 3',
    'row 4',
  ]);
});
