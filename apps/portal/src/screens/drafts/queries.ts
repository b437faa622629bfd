import { queryOptions } from '@tanstack/react-query';
import { api, bodyOf, type Schemas } from '../../api/client.ts';
import { DRAFTS } from '../../api/draft-calls.ts';

export type DraftFacts = Schemas['DraftFacts'];
export type DraftsPlan = Schemas['DraftsPlan'];
export type Conflict = Schemas['DraftConflict'];

/** In milliseconds: how soon the header notices what others began or published. */
const COUNTED_EVERY = 15_000;

/** What is being edited in a workspace. */
export const draftsQuery = (workspace: string) =>
  queryOptions({
    queryKey: [DRAFTS, workspace],
    queryFn: ({ signal }) =>
      bodyOf(api.GET(DRAFTS, { params: { path: { workspace }, query: { limit: 500 } }, signal })),
    refetchInterval: COUNTED_EVERY,
  });

/** Query of the plan for these saved drafts. Another save or publication makes another plan. */
export const planQuery = (workspace: string, drafts: readonly DraftFacts[]) =>
  queryOptions({
    queryKey: [
      DRAFTS,
      workspace,
      'plan',
      drafts.map(({ kind, name, revision, state }) => `${kind} ${name} ${revision} ${state}`),
    ],
    queryFn: ({ signal }) =>
      bodyOf(
        api.POST('/v1/workspaces/{workspace}/drafts/plan', {
          params: { path: { workspace } },
          body: { drafts: drafts.map(({ kind, name }) => ({ kind, name })) },
          signal,
        }),
      ),
    enabled: drafts.length > 0,
    placeholderData: (before) => before,
  });
