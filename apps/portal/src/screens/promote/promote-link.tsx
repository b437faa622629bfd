import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { buttonClass } from '../../ui/button.tsx';
import { useTestEnvironment } from './use-test-environment.ts';

/** Leads from a page of a test environment to its promotion. Nothing in a live workspace. */
export function PromoteLink({
  workspace,
  notification,
}: {
  readonly workspace: string;
  /** The notification to promote with its dependencies. Defaults to everything. */
  readonly notification?: string;
}): ReactNode {
  const { live } = useTestEnvironment(workspace);
  if (live === null) return null;
  return (
    <Link
      to="/workspaces/$w/promote"
      params={{ w: workspace }}
      search={notification === undefined ? {} : { n: notification }}
      className={buttonClass()}
    >
      Promote to {live}
    </Link>
  );
}
