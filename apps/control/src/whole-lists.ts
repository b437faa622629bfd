import type { Instant } from '@carillon/kernel';
import { z } from 'zod';
import { pageSize } from './routes/app.ts';

/** Query of a list that is read whole. That is bearable for what people write or make: there are hundreds of these. */
export const listPaging = { limit: pageSize.default(500), cursor: z.string().max(500).optional() };

/** Query parameters of such a list. */
export type ListQuery = { readonly limit: number; readonly cursor?: string | undefined };

type Page<Row> = { readonly rows: readonly Row[]; readonly next: string | null };

/**
 * A page of a list that is read whole. A place is a text that no two rows share and no write changes: the rows are in its order, and the
 * cursor is the place of the last one.
 */
export function pageOfAll<Row>(
  all: readonly Row[],
  placeOf: (row: Row) => string,
  { limit, cursor = '' }: ListQuery,
): Page<Row> {
  const placed = all.map((row) => ({ row, place: placeOf(row) })).filter(({ place }) => place > cursor);
  const page = placed.toSorted((a, b) => (a.place < b.place ? -1 : 1)).slice(0, limit);
  return {
    rows: page.map(({ row }) => row),
    next: placed.length > page.length ? (page.at(-1)?.place ?? null) : null,
  };
}

const LATEST = 999_999_999_999_999;
const placeAt = (at: number, id: string): string => `${String(at).padStart(15, '0')} ${id}`;
/** Places of rows in the order of time. */
export const oldestFirst = (at: Instant, id: string): string => placeAt(at, id);
export const newestFirst = (at: Instant, id: string): string => placeAt(LATEST - at, id);
