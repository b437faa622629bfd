import type { DocumentPage } from '@carillon/ports';

const PAGE_SIZE = 200;

/** How `carillon move` takes the items of a store to another deployment, a line of its file each. */
export type Move<Store, Item> = {
  /** Lines that name configurations by number come after the configuration. */
  readonly after?: 'configuration';
  readonly read: (store: Store) => AsyncIterable<Item>;
  /** Writes an item that may be there already. Resolves to true if it is new. */
  readonly write: (store: Store, item: Item) => Promise<boolean>;
  /** Returns the item for a deployment whose configurations have numbers that are higher by `shift`. */
  readonly renumber?: (item: Item, shift: number) => Item;
};

/** Reads all items of a list, page by page. */
export async function* pagesOf<Item>(
  page: (limit: number, cursor?: string) => Promise<DocumentPage<Item>>,
): AsyncGenerator<Item> {
  for (let cursor: string | undefined; ;) {
    const { items, next } = await page(PAGE_SIZE, cursor);
    yield* items;
    if (next === null) return;
    cursor = next;
  }
}
