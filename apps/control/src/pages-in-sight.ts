import type { VisibleScope } from './access/visible-scope.ts';

type Page<Row> = { readonly items: readonly Row[]; readonly next: string | null };

/** Maximum reads to fill one page if few of the rows read may be shown. */
const MAX_READS = 20;

/**
 * A page of those rows that are shown, in the order of the list. Whoever reads on by `next` meets each row once; a page may be short,
 * even empty, and have a `next` all the same.
 */
export async function shownPage<Row>(
  limit: number,
  cursor: string | undefined,
  read: (limit: number, cursor: string | undefined) => Promise<Page<Row>>,
  isShown: (row: Row) => boolean,
): Promise<Page<Row>> {
  const items: Row[] = [];
  let next: string | null = cursor ?? null;
  for (let reads = 0; reads < MAX_READS && items.length < limit; reads += 1) {
    // No more than there is room for, so that no row that was read is left out.
    const page: Page<Row> = await read(limit - items.length, next ?? undefined);
    items.push(...page.items.filter(isShown));
    ({ next } = page);
    if (next === null) break;
  }
  return { items, next };
}

/** A page of rows that each belong to a workspace, or to none. */
export const pageInSight = <Row extends { readonly workspace: string | null }>(
  sight: VisibleScope,
  limit: number,
  cursor: string | undefined,
  read: (limit: number, cursor: string | undefined) => Promise<Page<Row>>,
): Promise<Page<Row>> => shownPage(limit, cursor, read, ({ workspace }) => sight.sees(workspace));
