import { queryOptions } from '@tanstack/react-query';
import { api, bodyOf, type Schemas } from '../../api/client.ts';

export type Cohort = Schemas['Cohort'];

const INTEGRATIONS = '/v1/workspaces/{workspace}/integrations';

export const integrationsQuery = (workspace: string) =>
  queryOptions({
    queryKey: [INTEGRATIONS, workspace],
    queryFn: ({ signal }) =>
      bodyOf(api.GET(INTEGRATIONS, { params: { path: { workspace }, query: { limit: 500 } }, signal })),
  });

/** In milliseconds: so closely is a sync followed while somebody looks. */
const WATCHED_EVERY = 2_000;

/** The cohorts of a platform, followed while they are looked at. */
export const cohortsQuery = (workspace: string, name: string) =>
  queryOptions({
    queryKey: ['/v1/workspaces/{workspace}/integrations/{name}/cohorts', workspace, name],
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET('/v1/workspaces/{workspace}/integrations/{name}/cohorts', {
          params: { path: { workspace, name }, query: { limit: 100 } },
          signal,
        }),
      ),
    refetchInterval: WATCHED_EVERY,
  });
