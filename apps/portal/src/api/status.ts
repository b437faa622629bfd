import { queryOptions } from '@tanstack/react-query';
import { api, bodyOf } from './client.ts';

/** In milliseconds: how soon a page that does nothing else notices that the server is away, or a session ended. */
const ASKED_EVERY = 10_000;

/** What the deployment is, with the workspaces that one may see. */
export const statusQuery = queryOptions({
  queryKey: ['/v1/status'],
  queryFn: ({ signal }) => bodyOf(api.GET('/v1/status', { signal })),
  refetchInterval: ASKED_EVERY,
});
