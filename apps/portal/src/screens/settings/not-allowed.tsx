import type { ReactNode } from 'react';
import { Empty } from '../../ui/answers.tsx';

/** In the place of what somebody may not even see. */
export function NotAllowed({ what, reason }: { readonly what: string; readonly reason: string }): ReactNode {
  return <Empty title={`You do not see ${what}`}>{reason}</Empty>;
}
