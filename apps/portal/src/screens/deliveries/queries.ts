import { queryOptions } from '@tanstack/react-query';
import { api, bodyOf, type Schemas } from '../../api/client.ts';
import type { paths } from '../../api/management-api.generated.ts';
import type { Page } from '../../api/pages.ts';
import { filterOf, type DeliverySearch } from './delivery-search.ts';

export type Delivery = Schemas['Delivery'];
export type Trace = Schemas['Trace'];
export type Person = Schemas['Person'];

type DeliveryQuery = NonNullable<paths['/v1/workspaces/{workspace}/deliveries']['get']['parameters']['query']>;

/** Rows of one page: enough for two screens. */
const PAGE_SIZE = 50;

/** Where everything about parked receipts is kept. */
export const RECEIPTS = '/v1/workspaces/{workspace}/receipts';
/** Where everything about deliveries is kept; an action makes all of it old. */
export const DELIVERIES = '/v1/workspaces/{workspace}/deliveries';

export const loadDeliveries =
  (workspace: string, search: DeliverySearch) =>
  async (cursor: string | null, signal: AbortSignal): Promise<Page<Delivery>> => {
    // The server says of a word that it does not know which one was meant.
    const filter = filterOf(search) as unknown as DeliveryQuery;
    const query = { ...filter, limit: PAGE_SIZE, ...(cursor !== null && { cursor }) };
    return bodyOf(api.GET('/v1/workspaces/{workspace}/deliveries', { params: { path: { workspace }, query }, signal }));
  };

/** Poll interval of the open delivery in milliseconds without a live stream. */
const OPEN_EVERY = 2_000;
/** Poll interval in milliseconds with a live stream. */
export const TOLD_EVERY = 10_000;

export const deliveryQuery = (workspace: string, id: string) =>
  queryOptions({
    queryKey: [DELIVERIES, workspace, 'one', id],
    queryFn: ({ signal }) =>
      bodyOf(api.GET('/v1/workspaces/{workspace}/deliveries/{id}', { params: { path: { workspace, id } }, signal })),
    refetchInterval: OPEN_EVERY,
  });

export const deliveryTraceQuery = (workspace: string, id: string) =>
  queryOptions({
    queryKey: [DELIVERIES, workspace, 'trace', id],
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET('/v1/workspaces/{workspace}/deliveries/{id}/trace', { params: { path: { workspace, id } }, signal }),
      ),
    refetchInterval: OPEN_EVERY,
  });

/** `recipient`: one person of those whom the event names. */
export const eventTraceQuery = (workspace: string, id: string, recipient?: string) =>
  queryOptions({
    queryKey: ['/v1/workspaces/{workspace}/events/{id}/trace', workspace, id, recipient ?? null],
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET('/v1/workspaces/{workspace}/events/{id}/trace', {
          params: { path: { workspace, id }, query: { ...(recipient !== undefined && { recipient }) } },
          signal,
        }),
      ),
    refetchInterval: OPEN_EVERY,
  });
