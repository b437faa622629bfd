import { queryOptions } from '@tanstack/react-query';
import { api, bodyOf, type Schemas } from '../../api/client.ts';

export type Promoted = Schemas['Promoted'];
export type Job = Schemas['Job'];
export type Named = { readonly kind: string; readonly name: string };

/** All workspaces with their settings: which is a test environment, and of which. */
export const workspacesQuery = queryOptions({
  queryKey: ['/v1/workspaces'],
  queryFn: ({ signal }) => bodyOf(api.GET('/v1/workspaces', { params: { query: { limit: 500 } }, signal })),
});

type TransferRequest = {
  readonly resources?: Named[];
  readonly with_needs: boolean;
  readonly check_only: boolean;
};

const notificationsWithNeeds = (names: readonly string[] | null): TransferRequest => ({
  ...(names !== null && { resources: names.map((name) => ({ kind: 'notification', name })) }),
  with_needs: true,
  check_only: true,
});

/** Reads what a promotion would change: everything, or one notification with its dependencies. Writes nothing. */
export const promotionQuery = (workspace: string, notification: string | null) =>
  queryOptions({
    queryKey: ['/v1/workspaces/{workspace}/promote', workspace, notification],
    queryFn: ({ signal }) =>
      bodyOf(
        api.POST('/v1/workspaces/{workspace}/promote', {
          params: { path: { workspace } },
          body: notificationsWithNeeds(notification === null ? null : [notification]),
          signal,
        }),
      ),
    retry: false,
  });

const COPY = '/v1/workspaces/{workspace}/copy';

/** Reads what a copy from live would change: everything, or these notifications with their dependencies. Writes nothing. */
export const copyQuery = (workspace: string, notifications: readonly string[] | null) =>
  queryOptions({
    queryKey: [COPY, workspace, notifications],
    queryFn: ({ signal }) =>
      bodyOf(api.POST(COPY, { params: { path: { workspace } }, body: notificationsWithNeeds(notifications), signal })),
    retry: false,
    placeholderData: (before) => before,
  });

/** Writes drafts of these resources of live in a test environment. */
export const copyResources = (workspace: string, resources: readonly Named[]) =>
  bodyOf(
    api.POST(COPY, {
      params: { path: { workspace } },
      body: { resources: [...resources], with_needs: false, check_only: false },
    }),
  );

/** Begins to write the drafts, as a job of the live workspace. */
export const startPromotion = (workspace: string, resources: readonly Named[]) =>
  bodyOf(
    api.POST('/v1/workspaces/{workspace}/promotions', {
      params: { path: { workspace } },
      body: { resources: [...resources] },
    }),
  );

/** Poll interval of a job's progress in milliseconds. */
const WATCHED_EVERY = 700;

/** How far a job is; asked for until it is over. */
export const jobQuery = (workspace: string, id: string) =>
  queryOptions({
    queryKey: ['/v1/workspaces/{workspace}/jobs/{id}', workspace, id],
    queryFn: ({ signal }) =>
      bodyOf(api.GET('/v1/workspaces/{workspace}/jobs/{id}', { params: { path: { workspace, id } }, signal })),
    refetchInterval: ({ state: { data } }) => (data && data.ended_at !== null ? false : WATCHED_EVERY),
  });

export const cancelJob = (workspace: string, id: string) =>
  bodyOf(api.POST('/v1/workspaces/{workspace}/jobs/{id}/cancel', { params: { path: { workspace, id } }, body: {} }));
