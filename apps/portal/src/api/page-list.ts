import { useInfiniteQuery } from '@tanstack/react-query';
import { useCallback, useMemo } from 'react';
import { isAway } from './client.ts';
import type { Page } from './pages.ts';

export type PageList<Item> = {
  /** Undefined until the first answer. */
  readonly items: readonly Item[] | undefined;
  readonly error: Error | null;
  readonly retry: () => void;
  /** Asks for the next page, where there is one. */
  readonly more: () => void;
  /** True if there is a next page. */
  readonly hasMore: boolean;
};

/**
 * Reads the next page of a list when a person scrolls to its end. Pass the same `load` in every render, or null to load nothing.
 * `isReadOnce`: each read has an entry in the audit, so no page is read again when the window gets the focus.
 */
export function usePages<Item>(
  queryKey: readonly unknown[],
  load: ((cursor: string | null, signal: AbortSignal) => Promise<Page<Item>>) | null,
  isReadOnce = false,
): PageList<Item> {
  const { data, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) => load!(pageParam, signal),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next }) => next,
    enabled: load !== null,
    ...(isReadOnce && { staleTime: Infinity }),
  });
  const items = useMemo(() => data?.pages.flatMap((page) => page.items), [data]);
  const more = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);
  return {
    items,
    error: items !== undefined && isAway(error) ? null : error,
    retry: () => void refetch(),
    more,
    hasMore: hasNextPage,
  };
}
