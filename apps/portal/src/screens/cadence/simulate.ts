import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { api, bodyOf, type Schemas } from '../../api/client.ts';

export type Simulated = Schemas['SimulatedCadence'];
export type Run = Schemas['SimulatedRun'];
export type Person = Run['most_touched'][number];
export type Message = Person['messages'][number];

export type Tried = {
  readonly workspace: string;
  /** Left out: all messages of the workspace. */
  readonly notification?: string | undefined;
  /** The edited resource to simulate. Null without an edit. */
  readonly put: { readonly kind: 'notification' | 'workspace'; readonly name: string; readonly body: unknown } | null;
};

/** The last seven days again, under another cadence. What was drawn last stays until the next answer is there. */
export const simulationQuery = ({ workspace, notification, put }: Tried) =>
  queryOptions({
    queryKey: ['/v1/workspaces/{workspace}/cadence/simulate', workspace, notification ?? null, JSON.stringify(put)],
    queryFn: ({ signal }) =>
      bodyOf(
        api.POST('/v1/workspaces/{workspace}/cadence/simulate', {
          params: { path: { workspace } },
          body: {
            last: '7d',
            put: put === null ? [] : [{ ...put }],
            // A channel may be to have a template that is a draft itself.
            drafts: put !== null,
            ...(notification !== undefined && { notification }),
          },
          signal,
        }),
      ),
    placeholderData: keepPreviousData,
    staleTime: 30_000,
  });
