import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { EVERY_WORKSPACE } from '../../frame/last-workspace.ts';
import { LinkTabs } from '../../ui/link-tabs.tsx';
import { LiveLine } from '../../ui/live-line.tsx';

/** The lists about deliveries, side by side. */
export function Queues({ workspace }: { readonly workspace: string }): ReactNode {
  const params = { w: workspace };
  return (
    <>
      <LinkTabs label="Lists">
        {(tab) => (
          <>
            <Link
              to="/workspaces/$w/deliveries"
              params={params}
              className={tab}
              activeOptions={{ exact: true, includeSearch: false }}
            >
              All
            </Link>
            <Link
              to="/workspaces/$w/deliveries/in-doubt"
              params={params}
              className={tab}
              activeOptions={{ includeSearch: false }}
            >
              In doubt
            </Link>
            <Link
              to="/workspaces/$w/deliveries/dead-letters"
              params={params}
              className={tab}
              activeOptions={{ includeSearch: false }}
            >
              Dead letters
            </Link>
            <Link
              to="/workspaces/$w/deliveries/receipts"
              params={params}
              className={tab}
              activeOptions={{ includeSearch: false }}
            >
              Receipts
            </Link>
            <Link to="/workspaces/$w/events" params={params} className={tab} activeOptions={{ includeSearch: false }}>
              Events
            </Link>
            {workspace !== EVERY_WORKSPACE && (
              <Link to="/workspaces/$w/why" params={params} className={tab}>
                Why not?
              </Link>
            )}
          </>
        )}
      </LinkTabs>
      <LiveLine workspace={workspace} />
    </>
  );
}
