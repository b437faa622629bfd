import { createContext, useContext } from 'react';
import { useSettings } from './settings.ts';

/** The time zone of the browser, for what belongs to no workspace. */
export const OWN_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC';

/** The time zone of the workspace that is shown. */
export const WorkspaceZone = createContext(OWN_ZONE);

/** Returns the time zone in which times are shown. */
export function useZone(): string {
  const ofWorkspace = useContext(WorkspaceZone);
  return useSettings().isUtc ? 'UTC' : ofWorkspace;
}
