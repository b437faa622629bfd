import { useInfiniteQuery, useQuery, type InfiniteData } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useState } from 'react';
import { isAway } from './client.ts';
import { queryClient } from './query-client.ts';
import { joinNewest, type Page } from './pages.ts';

/** In milliseconds: how soon a list says what changed. */
const LOOKED_EVERY = 2_000;

export type LiveList<Item> = {
  /** Undefined until the first answer. */
  readonly items: readonly Item[] | undefined;
  readonly error: Error | null;
  readonly waiting: number;
  readonly retry: () => void;
  /** Asks for the next page, where there is one. */
  readonly more: () => void;
  readonly setAtTop: (isAtTop: boolean) => void;
  /** Takes in the rows that wait. */
  readonly takeIn: () => void;
};

/** A list that keeps itself up to date while it is looked at. `path` of the API and `filter` say which; `keyOf` and `load` are the same functions at every call. */
export function useLiveList<Item>(
  path: string,
  filter: string,
  load: (cursor: string | null, signal: AbortSignal) => Promise<Page<Item>>,
  keyOf: (item: Item) => string,
): LiveList<Item> {
  const [isAtTop, setAtTop] = useState(true);
  const [waiting, setWaiting] = useState(0);
  const queryKey = useMemo(() => [path, filter, 'list'], [path, filter]);
  const query = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) => load(pageParam, signal),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next }) => next,
    // What is old is brought up to date below, without asking for every page again.
    staleTime: Infinity,
  });
  const newest = useQuery({
    queryKey: [...queryKey, 'newest'],
    queryFn: ({ signal }) => load(null, signal),
    refetchInterval: LOOKED_EVERY,
    enabled: query.isSuccess,
  });

  const take = useCallback(
    (page: Page<Item> | undefined, atTop: boolean) => {
      if (!page) return;
      queryClient.setQueryData<InfiniteData<Page<Item>, string | null>>(queryKey, (data) => {
        if (!data) return data;
        const shown = { items: data.pages.flatMap(({ items }) => items), next: data.pages.at(-1)?.next ?? null };
        const joined = joinNewest(shown, page, keyOf, atTop);
        setWaiting(joined.waiting);
        if (JSON.stringify(joined.page) === JSON.stringify(shown)) return data;
        const known = new Map(shown.items.map((item) => [keyOf(item), item]));
        // A row that says what it said stays the same object, and is not drawn anew.
        const items = joined.page.items.map((item) => {
          const before = known.get(keyOf(item));
          return before !== undefined && JSON.stringify(before) === JSON.stringify(item) ? before : item;
        });
        return { pages: [{ ...joined.page, items }], pageParams: [null] };
      });
    },
    [queryKey, keyOf],
  );
  useEffect(() => take(newest.data, isAtTop), [newest.data, isAtTop, take]);

  const { hasNextPage, isFetchingNextPage, fetchNextPage, refetch } = query;
  const more = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);
  const items = useMemo(() => query.data?.pages.flatMap((page) => page.items), [query.data]);
  return {
    items,
    error: items !== undefined && isAway(query.error ?? newest.error) ? null : (query.error ?? newest.error),
    waiting,
    retry: () => void refetch(),
    more,
    setAtTop,
    takeIn: () => take(newest.data, true),
  };
}
