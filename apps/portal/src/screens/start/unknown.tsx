import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Empty } from '../../ui/answers.tsx';
import { PageHead } from '../../ui/page.tsx';

/** The page at an address where nothing stands. */
export function Unknown(): ReactNode {
  return (
    <>
      <PageHead title="Not found" />
      <Empty title="No page at this address" action={<Link to="/workspaces">Workspaces</Link>}>
        Check the end of the address for missing or extra letters. An old link may lead to a page that was removed.
      </Empty>
    </>
  );
}
