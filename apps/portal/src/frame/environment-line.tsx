import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { workspacesQuery } from '../screens/promote/queries.ts';
import { cls } from '../ui/class-names.ts';
import styles from './frame.module.css';

/** On every page of a test environment: nobody takes it for the live workspace, or the other way round. */
export function EnvironmentLine({ workspace }: { readonly workspace: string }): ReactNode {
  const { data } = useQuery({ ...workspacesQuery, staleTime: 60_000 });
  const settings = data?.items.find((one) => one.workspace === workspace)?.body;
  if (settings?.environment !== 'test') return null;
  const { of, allow_real_accounts: isReal } = settings;
  return (
    <p className={cls(styles.test)}>
      <span>
        <b>Test environment</b>
        {of !== undefined && (
          <>
            {' of '}
            <Link to="/workspaces/$w" params={{ w: of }}>
              {of}
            </Link>
          </>
        )}
        {isReal ? ': its accounts are real, and so are its readers.' : ': its messages stay in the inbox.'}
      </span>
    </p>
  );
}
