/** A piece of a list; `next` asks for the piece after it. */
export type Page<Item> = { readonly items: readonly Item[]; readonly next: string | null };

export type Joined<Item> = {
  readonly page: Page<Item>;
  /** New rows that are held back, because the list is not at its top. */
  readonly waiting: number;
};

/**
 * Merges the visible list, newest first, with its current first page. At the top, new rows are added and removed ones
 * disappear; further down rows only update in place and new ones are counted. If rows in between may be missing, the
 * list starts again.
 */
export function joinNewest<Item>(
  shown: Page<Item>,
  newest: Page<Item>,
  keyOf: (item: Item) => string,
  isAtTop: boolean,
): Joined<Item> {
  const now = new Map(newest.items.map((item) => [keyOf(item), item]));
  if (!isAtTop) {
    const before = new Set(shown.items.map(keyOf));
    const items = shown.items.map((item) => now.get(keyOf(item)) ?? item);
    return { page: { ...shown, items }, waiting: [...now.keys()].filter((key) => !before.has(key)).length };
  }
  const last = newest.items.at(-1);
  const place = last === undefined ? -1 : shown.items.findIndex((item) => keyOf(item) === keyOf(last));
  if (newest.next === null || place < 0) return { page: newest, waiting: 0 };
  const older = shown.items.slice(place + 1).filter((item) => !now.has(keyOf(item)));
  const next = older.length === 0 ? newest.next : shown.next;
  return { page: { items: [...newest.items, ...older], next }, waiting: 0 };
}

/** Rows of now, where each that says what it said before stays the same object: it is not drawn anew. */
export function withSameRows<Item>(
  now: readonly Item[],
  before: readonly Item[],
  keyOf: (item: Item) => string,
): readonly Item[] {
  const isShown = new Set(before);
  // A few rows of a long list are other objects than before: those alone are looked for.
  const others = new Set(now.filter((item) => !isShown.has(item)).map(keyOf));
  if (others.size === 0) return now;
  const known = new Map(before.filter((item) => others.has(keyOf(item))).map((item) => [keyOf(item), item]));
  return now.map((item) => {
    const old = others.has(keyOf(item)) ? known.get(keyOf(item)) : undefined;
    return old !== undefined && JSON.stringify(old) === JSON.stringify(item) ? old : item;
  });
}

/** A row that says when it changed, as an RFC 3339 time. */
const changedAt = (item: unknown): string => (item as { readonly updated_at?: string | null }).updated_at ?? '';

/** A page with what its rows say now; the same page where they say what they said. What is older than what is shown changes nothing. */
export function withChanged<Item>(
  page: Page<Item>,
  changed: readonly Item[],
  keyOf: (item: Item) => string,
): Page<Item> {
  const now = new Map(changed.map((item) => [keyOf(item), item]));
  let isSame = true;
  const items = page.items.map((item) => {
    const next = now.get(keyOf(item));
    if (next === undefined || changedAt(next) < changedAt(item)) return item;
    if (JSON.stringify(next) === JSON.stringify(item)) return item;
    isSame = false;
    return next;
  });
  return isSame ? page : { ...page, items };
}
