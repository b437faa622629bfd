import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { PageBody, PageHead, Row, Rows } from '../../ui/page.tsx';

/** What is set up once. */
export function Settings(): ReactNode {
  return (
    <>
      <PageHead title="Settings" />
      <PageBody>
        <Rows label="Settings">
          <Row>
            <h2>
              <Link to="/workspaces">Workspaces</Link>
            </h2>
          </Row>
        </Rows>
      </PageBody>
    </>
  );
}
