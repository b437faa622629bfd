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

/** What promoting would write, of all or of these; nothing is written. */
export const promotionQuery = (workspace: string, resources: readonly Named[] | null) =>
  queryOptions({
    queryKey: ['/v1/workspaces/{workspace}/promote', workspace, resources],
    queryFn: ({ signal }) =>
      bodyOf(
        api.POST('/v1/workspaces/{workspace}/promote', {
          params: { path: { workspace } },
          body: { check_only: true, ...(resources !== null && { resources: [...resources] }) },
          signal,
        }),
      ),
    retry: false,
  });

/** Begins to write the drafts, as a job of the live workspace. */
export const startPromotion = (workspace: string, resources: readonly Named[]) =>
  bodyOf(
    api.POST('/v1/workspaces/{workspace}/promotions', {
      params: { path: { workspace } },
      body: { resources: [...resources] },
    }),
  );

/** In milliseconds: how soon the page tells how far a job is. */
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
