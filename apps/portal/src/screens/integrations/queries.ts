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

/** Milliseconds between two reads of a sync while its page is open. */
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

/** Milliseconds between two reads of the partners that events wait for. */
const ASKED_EVERY = 15_000;
const WAITING = '/v1/workspaces/{workspace}/waiting';

/** Reads the partners that events wait for. */
export const waitingPartnersQuery = (workspace: string) =>
  queryOptions({
    queryKey: [WAITING, workspace],
    queryFn: ({ signal }) => bodyOf(api.GET(WAITING, { params: { path: { workspace } }, signal })),
    refetchInterval: ASKED_EVERY,
  });

const WAITING_EVENTS = '/v1/workspaces/{workspace}/integrations/{name}/waiting';

/** Events that wait for an answer of a partner. */
export const waitingEventsQuery = (workspace: string, name: string) =>
  queryOptions({
    queryKey: [WAITING_EVENTS, workspace, name],
    queryFn: ({ signal }) =>
      bodyOf(api.GET(WAITING_EVENTS, { params: { path: { workspace, name }, query: { limit: 100 } }, signal })),
    refetchInterval: ASKED_EVERY,
  });
