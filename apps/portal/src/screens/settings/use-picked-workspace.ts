import { useQuery } from '@tanstack/react-query';
import { meQuery } from '../../api/me.ts';
import { lastWorkspace } from '../../frame/last-workspace.ts';

/** The workspaces that one may see, and which of them a page of the settings is about; null: there is none, or it is not known yet. */
export function usePickedWorkspace(wanted: string | undefined): {
  readonly workspace: string | null;
  readonly all: readonly string[];
  readonly error: Error | null;
  readonly isLoading: boolean;
} {
  const { data, error } = useQuery(meQuery);
  const all = data?.workspaces.map(({ workspace }) => workspace) ?? [];
  const picked = [wanted, lastWorkspace()].find((name) => typeof name === 'string' && all.includes(name));
  return { workspace: picked ?? all[0] ?? null, all, error, isLoading: data === undefined && error === null };
}
