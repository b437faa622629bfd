import type { Page } from '../client.ts';

/** Maximum pages to go back per read. With more new rows no reader could follow anyway. */
const MAX_PAGES = 40;
const REMEMBERED = 50_000;
/** Rows that come into the list so much later than others of their time are met. */
const MAX_DELAY_MS = 5 * 60_000;

export type Following<Item> = {
  /** Identity of a row. A row with a new key is printed again. */
  readonly keyOf: (item: Item) => string;
  /** The time that the list is ordered by, newest first, as RFC 3339. */
  readonly timeOf: (item: Item) => string;
};

/**
 * Answers with each call the rows that no call before answered, oldest first; the first call answers one page. A look goes back page by
 * page until it meets one of known rows alone, so that a burst between two looks is not cut off. Partitions come into the list each on
 * its own, so a row may come behind rows that are newer than it: a `thorough` look goes back five minutes, known rows or not. No look goes
 * behind the first page.
 */
export function createFollower<Item>(
  read: (cursor?: string) => Promise<Page<Item>>,
  { keyOf, timeOf }: Following<Item>,
): (thorough: boolean) => Promise<readonly Item[]> {
  const seen = new Set<string>();
  /** The oldest of the first page. */
  let floor: number | null = null;
  let newest = Number.NEGATIVE_INFINITY;
  const at = (item: Item): number => Date.parse(timeOf(item));

  async function unseen(thorough: boolean): Promise<Item[]> {
    const fresh: Item[] = [];
    const isFirst = floor === null;
    let cursor: string | undefined;
    for (let pages = 0; pages < MAX_PAGES; pages += 1) {
      const page = await read(cursor);
      const found = page.items.filter((item) => at(item) >= (floor ?? 0) && !seen.has(keyOf(item)));
      fresh.push(...found);
      newest = Math.max(newest, ...page.items.map(at));
      const oldest = Math.min(...page.items.map(at));
      if (isFirst) floor = page.next === null ? 0 : oldest;
      if (isFirst || page.next === null || oldest < (floor ?? 0)) break;
      if (found.length === 0 && (!thorough || oldest < newest - MAX_DELAY_MS)) break;
      cursor = page.next;
    }
    return fresh;
  }

  return async (thorough) => {
    const rows = new Map<string, Item>();
    // A row that slid into the next page while this one was read came twice, and stays once.
    for (const item of (await unseen(thorough)).toReversed()) rows.set(keyOf(item), item);
    for (const key of rows.keys()) seen.add(key);
    for (const key of [...seen].slice(0, Math.max(0, seen.size - REMEMBERED))) seen.delete(key);
    return [...rows.values()];
  };
}
