import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Loading, Problem } from '../../ui/answers.tsx';
import { PageBody, PageHead, Row, Rows } from '../../ui/page.tsx';
import { healthQuery } from './health-query.ts';

/** The workspaces that the user may see, each with a link to its deliveries. */
export function Attention(): ReactNode {
  const { data, error, refetch } = useQuery(healthQuery);
  return (
    <>
      <PageHead title="Attention" lead="Workspaces with their counted deliveries." />
      <PageBody>
        {error && <Problem error={error} onRetry={() => void refetch()} />}
        {data === undefined && !error && <Loading what="the workspaces" rows={4} />}
        <Rows label="Workspaces">
          {data?.items.map(({ workspace }) => (
            <Row key={workspace}>
              <Link to="/workspaces/$w/deliveries" params={{ w: workspace }}>
                {workspace}
              </Link>
            </Row>
          ))}
        </Rows>
      </PageBody>
    </>
  );
}
