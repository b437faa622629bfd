import { queryOptions } from '@tanstack/react-query';
import { api, bodyOf } from '../../api/client.ts';

/** In milliseconds. */
const ASKED_EVERY = 15_000;
/** In milliseconds, until the first event came. */
const FIRST_ASKED_EVERY = 3_000;

/** Keys that may send to a workspace. */
export const keysQuery = (workspace: string) =>
  queryOptions({
    queryKey: ['/v1/workspaces/{workspace}/api-keys', workspace],
    queryFn: ({ signal }) =>
      bodyOf(api.GET('/v1/workspaces/{workspace}/api-keys', { params: { path: { workspace } }, signal })),
    refetchInterval: ASKED_EVERY,
  });

/** How many records stand aside that could not be processed. */
export const lettersQuery = (workspace: string) =>
  queryOptions({
    queryKey: ['/v1/workspaces/{workspace}/dead-letters/count', workspace],
    queryFn: ({ signal }) =>
      bodyOf(api.GET('/v1/workspaces/{workspace}/dead-letters/count', { params: { path: { workspace } }, signal })),
    refetchInterval: ASKED_EVERY,
  });

/** Whether anything came in yet. */
export const firstEventQuery = (workspace: string) =>
  queryOptions({
    queryKey: ['/v1/workspaces/{workspace}/events', workspace, 'first'],
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET('/v1/workspaces/{workspace}/events', { params: { path: { workspace }, query: { limit: 1 } }, signal }),
      ),
    // Somebody who sends the first event from a terminal looks here for its message.
    refetchInterval: ({ state }) => (state.data?.items.length === 0 ? FIRST_ASKED_EVERY : ASKED_EVERY),
  });

/** In milliseconds: the message of an event is waited for this closely. */
const AWAITED_EVERY = 700;

/** What became of an event that was just sent, asked for until a message of it has ended. */
export const outcomeQuery = (workspace: string, event: string) =>
  queryOptions({
    queryKey: ['/v1/workspaces/{workspace}/deliveries', workspace, 'of event', event],
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET('/v1/workspaces/{workspace}/deliveries', {
          params: { path: { workspace }, query: { event, limit: 10 } },
          signal,
        }),
      ),
    refetchInterval: ({ state }) =>
      state.data?.items.some(({ state: of }) => of !== 'WAITING' && of !== 'SENDING') ? false : AWAITED_EVERY,
  });

/** The message of a delivery as it was rendered. */
export const messageQuery = (workspace: string, id: string) =>
  queryOptions({
    queryKey: ['/v1/workspaces/{workspace}/deliveries/{id}/content', workspace, id],
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET('/v1/workspaces/{workspace}/deliveries/{id}/content', { params: { path: { workspace, id } }, signal }),
      ),
  });
