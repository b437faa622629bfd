import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { cls } from '../ui/class-names.ts';
import { draftsQuery } from '../screens/drafts/queries.ts';
import { EVERY_WORKSPACE } from './last-workspace.ts';
import styles from './frame.module.css';

/** How much of a workspace waits to be published, on every screen; nothing where nothing does. */
export function DraftLink({ workspace }: { readonly workspace: string }): ReactNode {
  const { data } = useQuery({ ...draftsQuery(workspace), enabled: workspace !== EVERY_WORKSPACE });
  const count = data?.items.length ?? 0;
  if (count === 0) return null;
  const isStuck = data?.items.some(({ state }) => state === 'conflict') ?? false;
  return (
    <Link to="/workspaces/$w/drafts" params={{ w: workspace }} className={cls(styles.draft)}>
      Draft: {count}{' '}
      <span>
        {count === 1 ? 'change' : 'changes'}
        {isStuck && ', in conflict'}
      </span>
    </Link>
  );
}
