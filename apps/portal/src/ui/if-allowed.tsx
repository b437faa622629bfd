import { useMatch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useIsMeKnown, useMay } from '../api/me.ts';
import { Empty, Loading } from './answers.tsx';

/** What somebody may see, asked for only once it is known that they may; else, in its place, who sees it. */
export function IfAllowed({
  what,
  reason,
  children,
}: {
  readonly what: string;
  /** Why they may not, as `useMay` says it. */
  readonly reason: string | null;
  readonly children: ReactNode;
}): ReactNode {
  const isKnown = useIsMeKnown();
  if (reason !== null) return <Empty title={`You cannot see ${what}`}>{reason}</Empty>;
  return isKnown ? children : <Loading what={what} rows={4} />;
}

/** All workspaces that the person sees, as in the addresses of lists. */
const ANY = '-';

/** Returns why the signed-in person does not see the screen, by the permission that the screen declares, or null if they do. */
export function useUnseen(): { readonly what: string; readonly reason: string | null } {
  const { staticData, params, search } = useMatch({ strict: false });
  const { w } = params as { readonly w?: string };
  const { workspace: named } = search as { readonly workspace?: string };
  const { permission } = staticData;
  const { needs = 'read', of = 'workspace', what = '' } = permission ?? {};
  const inDeployment = useMay(needs, null);
  const inWorkspace = useMay(needs, w ?? named ?? ANY);
  if (permission === undefined) return { what, reason: null };
  if (of === 'deployment') return { what, reason: inDeployment };
  return { what, reason: of === 'anywhere' && inDeployment === null ? null : inWorkspace };
}

/** Returns whether the signed-in person is known and sees the screen: nothing is requested before. */
export function useMaySee(): boolean {
  const { reason } = useUnseen();
  return useIsMeKnown() && reason === null;
}
