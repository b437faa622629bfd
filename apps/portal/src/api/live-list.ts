import { useInfiniteQuery, useQuery, type InfiniteData } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { isAway } from './client.ts';
import { useFollow, useOnChange } from './live.ts';
import type { LiveTopic } from './live-stream.ts';
import { joinNewest, withChanged, withSameRows, type Page } from './pages.ts';
import { queryClient } from './query-client.ts';

/** In milliseconds: how soon a list says what changed, where its stream is not there. */
const LOOKED_EVERY = 2_000;
/** Poll interval in milliseconds while the stream works. */
const LIVE_EVERY = 60_000;
/** In milliseconds: its newest rows are asked for so often at most, however much changes. */
const ASKED_EVERY = 1_000;
/** Milliseconds within which a user who scrolls on counts as still reading. */
const READ_ON = 1_500;

export type LiveList<Item> = {
  /** Undefined until the first answer. */
  readonly items: readonly Item[] | undefined;
  readonly error: Error | null;
  /** Whether each change is told; else the list is asked for every few seconds. */
  readonly isLive: boolean;
  /** New rows that are held back: whoever reads is not disturbed. */
  readonly waiting: number;
  /** Whether more wait than are counted. */
  readonly hasMoreWaiting: boolean;
  readonly retry: () => void;
  /** Asks for the next page, where there is one. */
  readonly more: () => void;
  readonly setAtTop: (isAtTop: boolean) => void;
  /** Whether somebody reads it, by the pointer or by the keyboard: no row moves then. */
  readonly setReading: (isReading: boolean) => void;
  /** Takes in the rows that wait. */
  readonly takeIn: () => void;
};

/**
 * A list that keeps itself up to date while it is looked at: by the stream of its topic, and where that is not there by asking. `path` of
 * the API and `filter` say which; `keyOf` and `load` are the same functions at every call; without `load` nothing is requested. What the stream tells of rows that are
 * shown is shown at once; which rows fit the filter the server alone knows, so that for new ones its newest page is asked for.
 */
export function useLiveList<Item>(
  path: string,
  filter: string,
  load: ((cursor: string | null, signal: AbortSignal) => Promise<Page<Item>>) | null,
  keyOf: (item: Item) => string,
  followed: { readonly workspace: string; readonly topic: LiveTopic },
): LiveList<Item> {
  const [isAtTop, setAtTop] = useState(true);
  const [isRead, setReading] = useReading();
  const [waiting, setWaiting] = useState(0);
  const queryKey = useMemo(() => [path, filter, 'list'], [path, filter]);
  const query = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) => load!(pageParam, signal),
    enabled: load !== null,
    initialPageParam: null as string | null,
    getNextPageParam: ({ next }) => next,
    // What is old is brought up to date below, without asking for every page again.
    staleTime: Infinity,
  });
  const { workspace } = followed;
  // Who may not read a list may not follow it either.
  const topic = query.isSuccess ? followed.topic : null;
  const isLive =
    useFollow(workspace, topic, {
      changed(rows) {
        const changed = rows as readonly Item[];
        queryClient.setQueryData<InfiniteData<Page<Item>, string | null>>(queryKey, (data) => {
          if (!data) return data;
          const pages = data.pages.map((page) => withChanged(page, changed, keyOf));
          return pages.every((page, at) => page === data.pages[at]) ? data : { ...data, pages };
        });
        // What was asked for before says the same, or the row would go back to it.
        queryClient.setQueryData<Page<Item>>(
          [...queryKey, 'newest'],
          (page) => page && withChanged(page, changed, keyOf),
        );
      },
      reset: () => undefined,
    }) === 'live';
  const newest = useQuery({
    queryKey: [...queryKey, 'newest'],
    queryFn: ({ signal }) => load!(null, signal),
    refetchInterval: isLive ? LIVE_EVERY : LOOKED_EVERY,
    enabled: load !== null && query.isSuccess,
  });
  const { refetch: askNewest } = newest;
  useOnChange(
    workspace,
    topic,
    ASKED_EVERY,
    useCallback(() => askNewest(), [askNewest]),
  );

  const take = useCallback(
    (page: Page<Item> | undefined, atTop: boolean) => {
      if (!page) return;
      queryClient.setQueryData<InfiniteData<Page<Item>, string | null>>(queryKey, (data) => {
        if (!data) return data;
        const shown = { items: data.pages.flatMap(({ items }) => items), next: data.pages.at(-1)?.next ?? null };
        const joined = joinNewest(shown, page, keyOf, atTop);
        setWaiting(joined.waiting);
        const items = withSameRows(joined.page.items, shown.items, keyOf);
        const isSame =
          joined.page.next === shown.next &&
          items.length === shown.items.length &&
          items.every((item, at) => item === shown.items[at]);
        if (isSame) return data;
        return { pages: [{ ...joined.page, items }], pageParams: [null] };
      });
    },
    [queryKey, keyOf],
  );
  const isFree = isAtTop && !isRead;
  useEffect(() => take(newest.data, isFree), [newest.data, isFree, take]);

  const { hasNextPage, isFetchingNextPage, fetchNextPage, refetch } = query;
  const more = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);
  const items = useMemo(() => query.data?.pages.flatMap((page) => page.items), [query.data]);
  return {
    items,
    error: items !== undefined && isAway(query.error ?? newest.error) ? null : (query.error ?? newest.error),
    isLive,
    waiting,
    hasMoreWaiting: waiting > 0 && waiting === newest.data?.items.length && newest.data.next !== null,
    retry: () => void refetch(),
    more,
    setAtTop,
    setReading,
    takeIn: () => take(newest.data, true),
  };
}

/** Whether somebody reads; it ends a moment after they went on. */
function useReading(): readonly [isRead: boolean, set: (isReading: boolean) => void] {
  const [isRead, setRead] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const set = useCallback((isReading: boolean) => {
    clearTimeout(timer.current);
    if (isReading) setRead(true);
    else timer.current = setTimeout(() => setRead(false), READ_ON);
  }, []);
  return [isRead, set];
}
