import { queryOptions } from '@tanstack/react-query';
import { api, bodyOf } from '../../api/client.ts';

const ACCOUNTS = '/v1/workspaces/{workspace}/accounts';

export const accountsQuery = (workspace: string) =>
  queryOptions({
    queryKey: [ACCOUNTS, workspace],
    queryFn: ({ signal }) =>
      bodyOf(api.GET(ACCOUNTS, { params: { path: { workspace }, query: { limit: 500 } }, signal })),
  });
