import { CarillonError } from '@carillon/kernel';

/**
 * Encodes a page's last row. The next page starts after that row in list order, so new rows neither repeat nor hide
 * rows. The text is opaque to clients.
 */
export const cursorAt = (...keys: readonly (number | string)[]): string =>
  Buffer.from(JSON.stringify(keys)).toString('base64url');

/** The keys in a cursor of this shape; anything else was not made by us and is refused. */
export function keysOf<Shape extends readonly ('number' | 'string')[]>(
  cursor: string,
  ...shape: Shape
): { [At in keyof Shape]: Shape[At] extends 'number' ? number : string } {
  try {
    const keys: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
    if (Array.isArray(keys) && keys.length === shape.length && shape.every((kind, at) => typeof keys[at] === kind)) {
      return keys as unknown as { [At in keyof Shape]: Shape[At] extends 'number' ? number : string };
    }
  } catch {
    // Falls through to the one refusal.
  }
  throw new CarillonError('invalid_request', 'the cursor does not belong to this list; start without a cursor');
}

/** Cuts a list that was read one row too long, and says where the next page begins. */
export function pageOf<Row, Item>(
  rows: readonly Row[],
  limit: number,
  item: (row: Row) => Item,
  at: (row: Row) => string,
): { readonly items: readonly Item[]; readonly next: string | null } {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  return { items: shown.map(item), next: rows.length > limit && last ? at(last) : null };
}
