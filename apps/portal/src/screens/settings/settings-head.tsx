import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { cls } from '../../ui/class-names.ts';
import { LinkTabs } from '../../ui/link-tabs.tsx';
import { PageHead } from '../../ui/page.tsx';
import styles from './settings.module.css';

/** The head of a page of the settings, with the way back to all of them. */
export function SettingsHead({
  title,
  lead,
  isIdentity = false,
  children,
}: {
  readonly title: string;
  readonly lead: string;
  /** Under Identity & Authentication, whose pages stand as tabs. */
  readonly isIdentity?: boolean;
  readonly children?: ReactNode;
}): ReactNode {
  return (
    <>
      <PageHead
        title={title}
        lead={
          <>
            <span className={cls(styles.path)}>
              <Link to="/settings">Settings</Link>
              {isIdentity && (
                <>
                  {' / '}
                  <Link to="/settings/identity">Identity & Authentication</Link>
                </>
              )}
            </span>
            <br />
            {lead}
          </>
        }
      >
        {children}
      </PageHead>
      {isIdentity && (
        <LinkTabs label="Identity & Authentication">
          {(tab) => (
            <>
              <Link to="/settings/identity/api-keys" search={(before) => before} className={tab}>
                API Keys
              </Link>
              <Link to="/settings/identity/jwt-providers" search={(before) => before} className={tab}>
                JWT Providers
              </Link>
            </>
          )}
        </LinkTabs>
      )}
    </>
  );
}
