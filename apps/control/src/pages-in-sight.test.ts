import { describe, expect, it } from 'vitest';
import { shownPage } from './pages-in-sight.ts';

const ROWS = Array.from({ length: 20 }, (_, row) => row);
const LIMIT = 3;
/** Hides all but the last row of the first read, so the next read has only shown rows. */
const isShown = (row: number): boolean => row >= LIMIT - 1;

/** Reads the rows as a store does: at most `limit` of them from the cursor on. */
async function read(limit: number, cursor: string | undefined) {
  const from = Number(cursor ?? 0);
  const to = Math.min(from + limit, ROWS.length);
  return { items: ROWS.slice(from, to), next: to < ROWS.length ? String(to) : null };
}

describe('shownPage', () => {
  it('returns at most `limit` rows when hidden rows make it read several times', async () => {
    const page = await shownPage(LIMIT, undefined, read, isShown);
    expect(page).toEqual({ items: [2, 3, 4], next: '5' });
  });

  it('returns each shown row once over all pages', async () => {
    const seen: number[] = [];
    for (let cursor: string | null | undefined; cursor !== null;) {
      const page = await shownPage(LIMIT, cursor, read, isShown);
      expect(page.items.length).toBeLessThanOrEqual(LIMIT);
      seen.push(...page.items);
      cursor = page.next;
    }
    expect(seen).toEqual(ROWS.filter(isShown));
  });
});
