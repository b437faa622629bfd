import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { shownPage } from '../src/pages-in-sight.ts';

type Row = { readonly id: number; readonly isShown: boolean };

/** A list that returns as many rows as it is asked for. The cursor is the position of the next row. */
const readerOf = (rows: readonly Row[]) => async (limit: number, cursor: string | undefined) => {
  const from = Number(cursor ?? 0);
  const to = from + limit;
  return { items: rows.slice(from, to), next: to < rows.length ? String(to) : null };
};

describe('a page of the rows that are shown', () => {
  it('is never longer than its limit, and page by page every shown row comes once and in order', async () => {
    const lists = fc.array(fc.boolean(), { maxLength: 120 });
    await fc.assert(
      fc.asyncProperty(lists, fc.integer({ min: 1, max: 10 }), async (shown, limit) => {
        const rows = shown.map((isShown, id) => ({ id, isShown }));
        const ids: number[] = [];
        let cursor: string | undefined;
        do {
          const page = await shownPage(limit, cursor, readerOf(rows), (row) => row.isShown);
          expect(page.items.length).toBeLessThanOrEqual(limit);
          ids.push(...page.items.map(({ id }) => id));
          cursor = page.next ?? undefined;
        } while (cursor !== undefined);
        expect(ids).toEqual(rows.filter((row) => row.isShown).map(({ id }) => id));
      }),
    );
  });

  it('is filled up to its limit if every second row is shown', async () => {
    const rows = Array.from({ length: 100 }, (_, id) => ({ id, isShown: id % 2 === 1 }));
    const page = await shownPage(7, undefined, readerOf(rows), (row) => row.isShown);
    expect(page.items.map(({ id }) => id)).toEqual([1, 3, 5, 7, 9, 11, 13]);
  });

  it('is short and has a next page if shown rows are too rare to fill it', async () => {
    const rows = Array.from({ length: 100 }, (_, id) => ({ id, isShown: id === 99 }));
    const page = await shownPage(2, undefined, readerOf(rows), (row) => row.isShown);
    expect(page).toEqual({ items: [], next: '40' });
  });
});
