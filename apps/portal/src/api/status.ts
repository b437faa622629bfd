import { queryOptions } from '@tanstack/react-query';
import { api, bodyOf } from './client.ts';

/** Milliseconds until an idle page notices an unavailable server or an ended session. */
const ASKED_EVERY = 10_000;

/** Query of the deployment's status with the visible workspaces. */
export const statusQuery = queryOptions({
  queryKey: ['/v1/status'],
  queryFn: ({ signal }) => bodyOf(api.GET('/v1/status', { signal })),
  refetchInterval: ASKED_EVERY,
});
