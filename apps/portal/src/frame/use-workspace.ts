import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useEffect } from 'react';
import { statusQuery } from '../api/status.ts';
import { EVERY_WORKSPACE, lastWorkspace, rememberWorkspace } from './last-workspace.ts';

/** The workspace that links lead to: that of the address, else the one seen last that is still there, else all. */
export function useWorkspace(): string {
  const { w } = useParams({ strict: false });
  const { data } = useQuery(statusQuery);
  useEffect(() => {
    if (w !== undefined) rememberWorkspace(w);
  }, [w]);
  if (w !== undefined) return w;
  return defaultWorkspace(data?.workspaces ?? []);
}

/** The workspace seen last, if it is still there, or the only one, or all of them. */
export function defaultWorkspace(names: readonly string[]): string {
  const last = lastWorkspace();
  if (last !== null && names.includes(last)) return last;
  const [only = EVERY_WORKSPACE] = names;
  return names.length === 1 ? only : EVERY_WORKSPACE;
}
