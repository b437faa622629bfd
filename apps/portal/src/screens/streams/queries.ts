import { queryOptions } from '@tanstack/react-query';
import { api, bodyOf, type Schemas } from '../../api/client.ts';

export type StreamField = Schemas['StreamField'];
export type StreamResource = Schemas['StreamResource'];

/** Shared streams of a workspace as they count. */
export const streamsQuery = (workspace: string) =>
  queryOptions({
    queryKey: ['/v1/workspaces/{workspace}/streams', workspace],
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET('/v1/workspaces/{workspace}/streams', {
          params: { path: { workspace }, query: { limit: 500 } },
          signal,
        }),
      ),
  });

/** In milliseconds: how soon a list of streams notices that something came. */
const LOOKED_EVERY = 15_000;

/** The newest event of a stream, by its EVENT_PATH. */
export const lastEventQuery = (workspace: string, path: string) =>
  queryOptions({
    queryKey: ['/v1/workspaces/{workspace}/events', workspace, path, 'last'],
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET('/v1/workspaces/{workspace}/events', {
          params: { path: { workspace }, query: { stream: path, limit: 1 } },
          signal,
        }),
      ),
    retry: false,
    refetchInterval: LOOKED_EVERY,
  });
