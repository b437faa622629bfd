import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { copyTitle, useTestEnvironment } from '../screens/promote/use-test-environment.ts';
import { cls } from '../ui/class-names.ts';
import styles from './frame.module.css';

/** On every page of a test environment: that it is one, of what, and the way to fill it from live. */
export function EnvironmentLine({ workspace }: { readonly workspace: string }): ReactNode {
  const { isTest, live, isEmpty, isSandboxed } = useTestEnvironment(workspace);
  if (!isTest) return null;
  return (
    <p className={cls(styles.test)}>
      <span>
        <b>Test environment</b>
        {live !== null && (
          <>
            {' of '}
            <Link to="/workspaces/$w" params={{ w: live }}>
              {live}
            </Link>
          </>
        )}
        {isSandboxed ? ': its messages stay in the inbox.' : ': it sends to real people over its accounts.'}
      </span>
      {live !== null && (
        <Link to="/workspaces/$w/copy" params={{ w: workspace }}>
          {copyTitle(live, isEmpty)}
        </Link>
      )}
    </p>
  );
}
