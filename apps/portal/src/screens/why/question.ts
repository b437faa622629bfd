import { infiniteQueryOptions } from '@tanstack/react-query';
import { api, bodyOf, Refusal, type Schemas } from '../../api/client.ts';
import { clockOf, dayOf, momentAt } from '../../ui/time-words.ts';

export type WhyNot = Schemas['WhyNot'];
export type Gate = WhyNot['gates'][number];
export type Other = WhyNot['others'][number];

/** The question as it stands in the address. */
export type WhySearch = {
  readonly who?: string;
  readonly notification?: string;
  readonly last?: string;
  readonly from?: string;
  readonly to?: string;
  readonly event?: string;
  /** `yes`: the answer has what each event comes to with the drafts too. */
  readonly drafts?: string;
  /** The search of the whole log that found the events in question. */
  readonly search?: string;
};

/** Id of the span that goes from one time to another. */
export const BETWEEN = 'between';
const DAY = '24h';
export const SPANS = [
  { id: '1h', name: 'the last hour' },
  { id: DAY, name: 'the last 24 hours' },
  { id: '7d', name: 'the last 7 days' },
  { id: '30d', name: 'the last 30 days' },
  { id: BETWEEN, name: 'between two times' },
] as const;
export type Span = (typeof SPANS)[number]['id'];

/** What the choice of a span shows for a question; one that stands only in the address counts as the usual one. */
export function spanOf({ last, from, to }: WhySearch): Span {
  if (from !== undefined || to !== undefined) return BETWEEN;
  return SPANS.find(({ id }) => id === last)?.id ?? DAY;
}

/** Whether the address has a whole question. */
export const isAsked = (search: WhySearch): search is WhySearch & { who: string; notification: string } =>
  search.who !== undefined && search.notification !== undefined;

export const WHY_NOT = '/v1/workspaces/{workspace}/why-not';

/**
 * Evaluating events again costs the server something, so it is asked when a person asks. `isReady` is false while the log is searched.
 */
export const whyNotQuery = (workspace: string, search: WhySearch, isReady: boolean) =>
  infiniteQueryOptions({
    queryKey: [WHY_NOT, workspace, search],
    queryFn: ({ pageParam, signal }) =>
      bodyOf(
        api.POST(WHY_NOT, {
          params: { path: { workspace } },
          body: {
            who: search.who ?? '',
            notification: search.notification ?? '',
            ...optionsOf(search),
            ...(pageParam !== null && { cursor: pageParam }),
          },
          signal,
        }),
      ),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next }) => next,
    enabled: isAsked(search) && isReady,
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });

/** Which events a question is about, and whether drafts are asked for. */
export const optionsOf = (search: WhySearch) => ({
  ...(search.search === undefined ? whenOf(search) : { search: search.search }),
  ...(search.drafts !== undefined && { drafts: true }),
});

/** One event, two times, or a span that ends now. */
export function whenOf({ event, from, to, last }: WhySearch): Pick<WhySearch, 'event' | 'from' | 'last' | 'to'> {
  if (event !== undefined) return { event };
  if (from !== undefined || to !== undefined) {
    return { ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
  }
  return { last: last ?? DAY };
}

/** What all pages of an answer say together. */
export type Whole = {
  /** The event that the gates are of: the first page that found one. */
  readonly main: WhyNot;
  readonly others: readonly Other[];
  readonly looked: WhyNot['looked'];
  /** True if the same question looks further back. */
  readonly hasMore: boolean;
};

export function wholeOf(pages: readonly WhyNot[]): Whole | null {
  const newest = pages.at(-1);
  if (newest === undefined) return null;
  const main = pages.find(({ verdict }) => verdict !== 'no_event') ?? newest;
  const keyOf = ({ event, rule }: { readonly event: string | null; readonly rule: string | null }): string =>
    `${event} ${rule}`;
  const others = new Map<string, Other>();
  // What the ledger found at once comes again where the events of its time are looked at.
  for (const one of pages.flatMap((page) => [...ownOf(page), ...page.others])) {
    if (keyOf(one) !== keyOf(main) && !others.has(keyOf(one))) others.set(keyOf(one), one);
  }
  const sum = (name: 'events' | 'judged_again' | 'deliveries'): number =>
    pages.reduce((all, { looked }) => all + looked[name], 0);
  return {
    main,
    others: [...others.values()],
    hasMore: newest.next !== null,
    looked: {
      events: sum('events'),
      judged_again: sum('judged_again'),
      deliveries: sum('deliveries'),
      complete: newest.looked.complete,
      not_kept: newest.looked.not_kept,
      since: newest.looked.since,
    },
  };
}

/** The event that a page tells of gate by gate, as one of many. */
function ownOf({ verdict, event, rule, gate, gates, delivery, with_drafts }: WhyNot): readonly Other[] {
  const at = gates.find((one) => one.gate === 'event')?.at ?? null;
  if (verdict === 'no_event' || event === null || rule === null || at === null) return [];
  const text = gates.find((one) => one.gate === gate)?.title ?? '';
  return [{ at, event, rule, verdict, gate, text, delivery, with_drafts }];
}

/** What the server has against one field of the form; null: nothing, or against no field. */
export function faultOf(error: Error | null, field: string): string | null {
  return error instanceof Refusal && error.pointer === `/${field}` ? error.message : null;
}

/** A time as a field for it shows it, to the minute; empty where the address has none that can be read. */
export function fieldTime(at: string | undefined, zone: string): string {
  const moment = at === undefined ? Number.NaN : Date.parse(at);
  if (Number.isNaN(moment)) return '';
  const date = new Date(moment);
  return `${dayOf(date, zone)}T${clockOf(date, zone).slice(0, 5)}`;
}

/** The instant that such a field means; undefined where it is empty. */
export function instantOf(text: string, zone: string): string | undefined {
  const moment = momentAt(text, zone);
  return Number.isNaN(moment) ? undefined : new Date(moment).toISOString();
}
