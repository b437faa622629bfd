type PageOf<Item> = { readonly items: readonly Item[]; readonly next: string | null };

/** Every item of a list, page by page, while `meanwhile` changes the list between the pages. */
export async function allPages<Item>(
  page: (cursor?: string) => Promise<PageOf<Item>>,
  meanwhile: () => Promise<unknown>,
): Promise<readonly Item[]> {
  const items: Item[] = [];
  let at = await page();
  items.push(...at.items);
  for (let turns = 0; at.next !== null && turns < 1000; turns += 1) {
    await meanwhile();
    at = await page(at.next);
    items.push(...at.items);
  }
  return items;
}
