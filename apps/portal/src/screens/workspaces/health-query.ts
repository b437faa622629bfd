import { queryOptions } from '@tanstack/react-query';
import { api, bodyOf } from '../../api/client.ts';

/** The server counts no further. */
export const MAX_COUNTED = 500;
/** In milliseconds. */
const COUNTED_EVERY = 30_000;

/** Reads what needs attention in each workspace that the user may see. */
export const healthQuery = queryOptions({
  queryKey: ['/v1/overview'],
  queryFn: ({ signal }) => bodyOf(api.GET('/v1/overview', { signal })),
  refetchInterval: COUNTED_EVERY,
});
