import { queryOptions } from '@tanstack/react-query';
import type { paths } from '../../api/management-api.generated.ts';
import { api, bodyOf, type Schemas } from '../../api/client.ts';

type CheckCall = paths['/v1/workspaces/{workspace}/expressions/check']['post'];
export type ExpressionCheck = CheckCall['responses'][200]['content']['application/json'];
export type Sample = Schemas['RuleSample'];
export type Place = 'when' | 'unless' | 'at' | 'for_each' | 'recipient' | 'where' | 'user_ids' | 'total_condition';
export type FormChange = NonNullable<CheckCall['requestBody']['content']['application/json']['change']>;

/** What an expression says, as a form, and what is wrong with it. `change` changes its form first. */
export const checkExpression = (
  workspace: string,
  asked: { source: string; place: Place; stream?: string; change?: FormChange },
  signal?: AbortSignal,
): Promise<ExpressionCheck> =>
  // The client loses the length of a path, which the description has.
  bodyOf(
    api.POST('/v1/workspaces/{workspace}/expressions/check', {
      params: { path: { workspace } },
      body: asked,
      ...(signal && { signal }),
    }),
  ) as Promise<unknown> as Promise<ExpressionCheck>;

export const checkQuery = (workspace: string, source: string, place: Place, stream: string | undefined) =>
  queryOptions({
    queryKey: ['/v1/workspaces/{workspace}/expressions/check', workspace, place, stream ?? null, source],
    queryFn: ({ signal }) =>
      checkExpression(workspace, { source, place, ...(stream !== undefined && { stream }) }, signal),
    enabled: source.trim() !== '',
    staleTime: 60_000,
    // Shows the previous result until the new text is checked.
    placeholderData: (before) => before,
  });

/** Query of fields seen in a stream's events. Empty for a stream without events or an unpublished one. */
export const fieldsQuery = (workspace: string, stream: string | undefined) =>
  queryOptions({
    queryKey: ['/v1/workspaces/{workspace}/streams/{name}/fields', workspace, stream ?? null],
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET('/v1/workspaces/{workspace}/streams/{name}/fields', {
          params: { path: { workspace, name: stream ?? '' } },
          signal,
        }),
      ),
    enabled: stream !== undefined,
    staleTime: 30_000,
  });

/** Entities that wait by a published rule. */
export const waitingQuery = (workspace: string, title: string) =>
  queryOptions({
    queryKey: ['/v1/workspaces/{workspace}/rules/{name}/waiting', workspace, title],
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET('/v1/workspaces/{workspace}/rules/{name}/waiting', {
          params: { path: { workspace, name: title } },
          signal,
        }),
      ),
    refetchInterval: 10_000,
  });

/** The smallest event of a rule and code that sends it; `saving` is the draft that it is made from, null: what is published. */
export const sampleQuery = (workspace: string, title: string, saving: string | null) =>
  queryOptions({
    queryKey: ['/v1/workspaces/{workspace}/rules/{name}/sample', workspace, title, saving],
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET('/v1/workspaces/{workspace}/rules/{name}/sample', {
          params: { path: { workspace, name: title }, query: { drafts: saving === null ? 'false' : 'true' } },
          signal,
        }),
      ),
    placeholderData: (before) => before,
  });

/** Reads a page of 50 events of a stream, newest first. Null: the first page. */
export const readEvents = (workspace: string, stream: string, cursor: string | null) =>
  bodyOf(
    api.GET('/v1/workspaces/{workspace}/events', {
      params: {
        path: { workspace },
        query: { stream, limit: 50, labels: 'true', ...(cursor !== null && { cursor }) },
      },
    }),
  );

/** Events that a stream got last. */
export const newestEventsQuery = (workspace: string, stream: string) =>
  queryOptions({
    queryKey: ['/v1/workspaces/{workspace}/events', workspace, stream, 'newest'],
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET('/v1/workspaces/{workspace}/events', {
          params: { path: { workspace }, query: { stream, limit: 20, labels: 'true' } },
          signal,
        }),
      ),
    refetchInterval: 5_000,
  });
