import type { DocumentCollection, PageQuery } from '@carillon/ports';

const PAGE_SIZE = 500;

/** Replaces the version before, or inserts the first version. */
export const writeNext = <Item extends { readonly version: number }>(
  documents: DocumentCollection<Item>,
  next: Item,
): Promise<'done' | 'stale' | 'taken'> => documents.write(next, next.version === 1 ? null : next.version - 1);

/** Reads all pages of a query. For sets that are small by their nature. */
export async function readAll<Item>(documents: DocumentCollection<Item>, query: PageQuery): Promise<readonly Item[]> {
  const items: Item[] = [];
  for (let cursor: string | undefined; ;) {
    const page = await documents.page(query, PAGE_SIZE, cursor);
    items.push(...page.items);
    if (page.next === null) return items;
    cursor = page.next;
  }
}
