import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';

/** That an event was taken, and the way to what became of it. */
export function SentAs({ workspace, id }: { readonly workspace: string; readonly id: string }): ReactNode {
  return (
    <p role="status">
      Sent as{' '}
      <Link to="/workspaces/$w/events/$id" params={{ w: workspace, id }}>
        {id}
      </Link>
      . Its story shows the outcome.
    </p>
  );
}
