import { queryOptions } from '@tanstack/react-query';
import { api, bodyOf, type Schemas } from '../../api/client.ts';
import { queryClient } from '../../api/query-client.ts';

export type Checked = Schemas['Checks']['steps'];
export type Checkable = 'integrations' | 'accounts';

/** The check of one, as it came out last in this tab. */
export const checkKey = (kind: Checkable, workspace: string, name: string) => ['check', kind, workspace, name] as const;

export type CheckAsked = {
  readonly kind: Checkable;
  readonly workspace: string;
  readonly name: string;
  /** By the drafts of the workspace: it may not be published. */
  readonly drafts: boolean;
  /** Whom a lookup is asked about. */
  readonly userIds?: readonly string[];
};

/** Asks the other side, and keeps what came of it for the lamps of lists. */
export async function runCheck({ kind, workspace, name, drafts, userIds = [] }: CheckAsked): Promise<Checked> {
  const params = { path: { workspace, name } };
  const { steps } = await bodyOf(
    kind === 'accounts'
      ? api.POST('/v1/workspaces/{workspace}/accounts/{name}/check', { params, body: { drafts } })
      : api.POST('/v1/workspaces/{workspace}/integrations/{name}/check', {
          params,
          body: { drafts, ...(userIds.length > 0 && { user_ids: [...userIds] }) },
        }),
  );
  queryClient.setQueryData(checkKey(kind, workspace, name), steps);
  return steps;
}

/** The newest check of this tab; it asks by itself only where it is told to. */
export const checkQuery = (asked: CheckAsked, asks: boolean) =>
  queryOptions({
    queryKey: checkKey(asked.kind, asked.workspace, asked.name),
    queryFn: () => runCheck(asked),
    enabled: asks,
    staleTime: Infinity,
    retry: false,
  });

export const SECRETS = '/v1/workspaces/{workspace}/secrets';

/** Stored secrets of a workspace: names and fingerprints, never a value. */
export const secretsQuery = (workspace: string) =>
  queryOptions({
    queryKey: [SECRETS, workspace],
    queryFn: ({ signal }) => bodyOf(api.GET(SECRETS, { params: { path: { workspace } }, signal })),
  });

export async function setSecret(workspace: string, name: string, value: string): Promise<void> {
  await bodyOf(
    api.PUT('/v1/workspaces/{workspace}/secrets/{name}', { params: { path: { workspace, name } }, body: { value } }),
  );
  await queryClient.invalidateQueries({ queryKey: [SECRETS, workspace] });
}
