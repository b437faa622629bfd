import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { statusQuery } from '../../api/status.ts';
import { Empty, Loading, Problem } from '../../ui/answers.tsx';
import { Actions, PageBody, PageHead, Row, Rows } from '../../ui/page.tsx';
import { Code } from '../../ui/text.tsx';
import { FirstSteps } from './first-steps.tsx';

/** All workspaces that one may see, each with its screens. */
export function Workspaces(): ReactNode {
  const { data, error, refetch } = useQuery(statusQuery);
  return (
    <>
      <PageHead title="Workspaces" />
      <PageBody>
        {error && <Problem error={error} onRetry={() => void refetch()} />}
        {!data && !error && <Loading what="workspaces" />}
        {data?.workspaces.length === 0 && (
          <Empty
            title="No workspace yet"
            action={<Code text="npx carillon apply -f carillon-demo" what="the command that applies the demo" />}
          >
            A workspace holds streams, notifications and the people who look after them. Applying a configuration folder
            makes one.
          </Empty>
        )}
        {data && data.workspaces.length > 0 && (
          <Rows label="Workspaces">
            {data.workspaces.map((w) => (
              <Row key={w}>
                <h2>
                  <Link to="/workspaces/$w" params={{ w }}>
                    {w}
                  </Link>
                </h2>
                <Actions>
                  <Link to="/workspaces/$w/deliveries" params={{ w }}>
                    Deliveries
                  </Link>
                  <Link to="/workspaces/$w/inbox" params={{ w }}>
                    Inbox
                  </Link>
                </Actions>
              </Row>
            ))}
          </Rows>
        )}
        <FirstSteps />
      </PageBody>
    </>
  );
}
