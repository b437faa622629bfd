import { useQuery } from '@tanstack/react-query';
import { draftsQuery } from '../drafts/queries.ts';
import { notificationsQuery } from '../notifications/queries.ts';
import { workspacesQuery } from './queries.ts';

/** Name of the link and the page that copy a live workspace into its test environment. */
export const copyTitle = (live: string, isEmpty: boolean): string =>
  isEmpty ? `Start with a copy of ${live}` : `Update from ${live}`;

/** What a workspace is a test environment of. `live` is null for any other workspace, and until the settings are read. */
export function useTestEnvironment(workspace: string) {
  const { data, error, isLoading, refetch } = useQuery({ ...workspacesQuery, staleTime: 60_000 });
  const settings = data?.items.find((item) => item.workspace === workspace)?.body;
  const live = settings?.environment === 'test' ? (settings.of ?? null) : null;
  const notifications = useQuery({ ...notificationsQuery(workspace), enabled: live !== null });
  const drafts = useQuery({ ...draftsQuery(workspace), enabled: live !== null });
  return {
    live,
    isTest: settings?.environment === 'test',
    isSandboxed: settings?.allow_real_accounts !== true,
    /** Whether the test environment has neither a notification nor a draft. */
    isEmpty: notifications.data?.items.length === 0 && drafts.data?.items.length === 0,
    isLoading,
    error,
    retry: () => void refetch(),
  };
}
