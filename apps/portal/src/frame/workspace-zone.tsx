import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { workspacesQuery } from '../screens/promote/queries.ts';
import { OWN_ZONE, WorkspaceZone } from '../ui/zone.ts';

/** In milliseconds. */
const SETTINGS_STALE_AFTER = 60_000;

/** Shows times in the time zone of a workspace, or in that of the browser if there is no such workspace. */
export function InZoneOf({
  workspace,
  children,
}: {
  readonly workspace: string;
  readonly children: ReactNode;
}): ReactNode {
  const { data } = useQuery({ ...workspacesQuery, staleTime: SETTINGS_STALE_AFTER });
  const settings = data?.items.find((item) => item.workspace === workspace)?.body;
  return <WorkspaceZone value={settings ? (settings.time_zone ?? 'UTC') : OWN_ZONE}>{children}</WorkspaceZone>;
}
