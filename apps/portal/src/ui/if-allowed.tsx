import type { ReactNode } from 'react';
import { useIsMeKnown } from '../api/me.ts';
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
  if (reason !== null) return <Empty title={`You do not see ${what}`}>{reason}</Empty>;
  return isKnown ? children : <Loading what={what} rows={4} />;
}
