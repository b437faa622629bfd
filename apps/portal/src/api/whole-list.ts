import type { Page } from './pages.ts';

/** All pages of a list, one after the other: of what people make by hand, which is seldom more than one page. */
export async function wholeList<Item>(
  read: (query: { readonly cursor?: string }) => Promise<Page<Item>>,
): Promise<{ readonly items: readonly Item[] }> {
  const items: Item[] = [];
  for (let query: { readonly cursor?: string } = {}; ;) {
    const page = await read(query);
    items.push(...page.items);
    if (page.next === null) return { items };
    query = { cursor: page.next };
  }
}
