import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Empty } from '../../ui/answers.tsx';
import { PageHead } from '../../ui/page.tsx';

/** The page at an address where nothing stands. */
export function Unknown(): ReactNode {
  return (
    <>
      <PageHead title="Not found" />
      <Empty title="There is no page at this address" action={<Link to="/workspaces">Workspaces</Link>}>
        Look at its end for a letter too many or too few. An old link may name a page that has gone.
      </Empty>
    </>
  );
}
