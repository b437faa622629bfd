import { queryOptions } from '@tanstack/react-query';
import { api, bodyOf } from '../../api/client.ts';

const ACCOUNTS = '/v1/workspaces/{workspace}/accounts';

export const accountsQuery = (workspace: string) =>
  queryOptions({
    queryKey: [ACCOUNTS, workspace],
    queryFn: ({ signal }) =>
      bodyOf(api.GET(ACCOUNTS, { params: { path: { workspace }, query: { limit: 500 } }, signal })),
  });

const SENDING = '/v1/workspaces/{workspace}/sending';
/** In milliseconds. */
const COUNTED_EVERY = 15_000;

/** Which accounts messages go over on each channel, with their calls of the last hour. */
export const sendingQuery = (workspace: string) =>
  queryOptions({
    queryKey: [SENDING, workspace],
    queryFn: ({ signal }) => bodyOf(api.GET(SENDING, { params: { path: { workspace } }, signal })),
    refetchInterval: COUNTED_EVERY,
  });
