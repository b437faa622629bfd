import type { Duration, Instant } from '@carillon/kernel';
import { z } from 'zod';
import type { LiveItem, LiveSource } from './source.ts';

type Page<Row> = { readonly items: readonly Row[]; readonly next: string | null };

export type NewestRows<Row> = {
  readonly read: (limit: number, cursor?: string) => Promise<Page<Row>>;
  /** Returns the time by which the list is ordered. */
  readonly at: (row: Row) => Instant;
  /** When it last changed. */
  readonly touched: (row: Row) => Instant;
  /** Returns the key of the row in the list. */
  readonly key: (row: Row) => string;
  /** Called for rows that changed, and for no others. */
  readonly show: (row: Row) => Omit<LiveItem, 'key'> | Promise<Omit<LiveItem, 'key'>>;
};

/** Overlap of two polls. Times of rows come from several clocks, and rows of several partitions in any order. */
export const CLOCKS_APART: Duration = 5_000;
const BATCH_SIZE = 25;
/** Maximum rows per read. With more, the client reads the list again. */
const MAX_ROWS = 200;

const position = z.number().int();

/** The changes of a list in the order of time, among its newest rows: new ones, and those that changed there. */
export const newestRows = <Row>({ read, at, touched, key, show }: NewestRows<Row>): LiveSource<Instant> => ({
  async begin() {
    const { items } = await read(1);
    return Math.max(0, ...items.map(at));
  },
  async since(from, isKnown) {
    const items: LiveItem[] = [];
    let newest = from;
    let cursor: string | undefined;
    let isWhole = false;
    for (let looked = 0; looked < MAX_ROWS && !isWhole; looked += BATCH_SIZE) {
      const page = await read(BATCH_SIZE, cursor);
      for (const row of page.items) {
        newest = Math.max(newest, at(row));
        if (at(row) < from || isKnown(key(row))) isWhole = true;
        if (touched(row) >= from - CLOCKS_APART) items.push({ key: key(row), ...(await show(row)) });
      }
      if (page.next === null) isWhole = true;
      else cursor = page.next;
    }
    return { items, isWhole, position: newest };
  },
  read: (text) => position.safeParse(text).data ?? null,
});
