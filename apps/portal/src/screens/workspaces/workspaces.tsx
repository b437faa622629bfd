import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useMay } from '../../api/me.ts';
import type { Schemas } from '../../api/client.ts';
import { statusQuery } from '../../api/status.ts';
import { Empty, Loading, Problem } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { Actions, PageBody, PageHead, Quiet, Row, Rows } from '../../ui/page.tsx';
import { lazyPart, Part } from '../../ui/part.tsx';
import { cls } from '../../ui/class-names.ts';
import { Code } from '../../ui/text.tsx';
import { workspacesQuery } from '../promote/queries.ts';
import { FirstSteps } from './first-steps.tsx';
import { healthQuery, MAX_COUNTED } from './health-query.ts';
import type { Known } from './make-workspace.ts';
import styles from './workspaces.module.css';

const NewWorkspace = lazyPart(() => import('./new-workspace.tsx').then(({ NewWorkspace: loaded }) => loaded));

/** All workspaces that one may see, each with its screens. */
export function Workspaces(): ReactNode {
  const { data, error, refetch } = useQuery(statusQuery);
  const { data: all } = useQuery(workspacesQuery);
  const { data: health } = useQuery(healthQuery);
  const search = useSearch({ from: '/workspaces' });
  const navigate = useNavigate({ from: '/workspaces' });
  // A new one is nobody's yet: whoever owns the deployment makes it.
  const off = useMay('configure', null);
  const names = data?.workspaces ?? [];
  const known = new Map(all?.items.map((one) => [one.workspace, one]));
  const named = search.test === undefined ? undefined : known.get(search.test);
  // A test environment has no test environment of its own.
  const live = named?.body.environment === 'test' ? undefined : named;
  const make = (
    <Button kind="main" off={off} onPress={() => void navigate({ search: { new: 'yes' } })}>
      New workspace
    </Button>
  );
  return (
    <>
      <PageHead title="Workspaces">{names.length > 0 && make}</PageHead>
      <PageBody>
        {error && <Problem error={error} onRetry={() => void refetch()} />}
        {!data && !error && <Loading what="workspaces" />}
        {data && names.length === 0 && (
          <Empty title="No workspace yet" action={make}>
            A workspace contains streams, notifications and their people. You can also create one by applying a
            configuration folder, such as the demo:
          </Empty>
        )}
        {data && names.length === 0 && (
          <Code text="npx carillon apply -f carillon-demo" what="the command that applies the demo" />
        )}
        {names.length > 0 && (
          <Rows label="Workspaces">
            {names.map((name) => (
              <WorkspaceRow
                key={name}
                name={name}
                body={known.get(name)?.body}
                health={health?.items.find((one) => one.workspace === name)}
              />
            ))}
          </Rows>
        )}
        <FirstSteps />
      </PageBody>
      {data && (search.new !== undefined || live !== undefined) && (
        <Part>
          <NewWorkspace
            key={live?.workspace ?? ''}
            live={live ?? null}
            taken={names}
            onClose={() => void navigate({ search: {}, replace: true })}
          />
        </Part>
      )}
    </>
  );
}

/** What it is, where its name alone does not say it. */
function about(name: string, { name: title, environment, of }: Known['body']): string {
  const isTest = environment === 'test';
  const words = [
    ...(title === undefined || title.toLowerCase() === name ? [] : [title]),
    ...(isTest ? [of === undefined ? 'Test environment' : `Test environment of ${of}`] : []),
  ];
  return words.join(' · ');
}

const counted = (count: number): string =>
  count >= MAX_COUNTED ? `${MAX_COUNTED} or more` : count.toLocaleString('en');

/** Shows the numbers of a workspace that need attention. Each links to its list. */
function Health({ health }: { readonly health: Schemas['WorkspaceHealth'] }): ReactNode {
  const params = { w: health.workspace };
  const events = health.waiting_for_partners;
  const sources = health.sources_stopped + health.sources_waiting;
  return (
    <span className={cls(styles.health)}>
      <Link to="/workspaces/$w/deliveries/in-doubt" params={params}>
        {counted(health.in_doubt)} in doubt
      </Link>
      <Link to="/workspaces/$w/deliveries/dead-letters" params={params}>
        {counted(health.dead_letters)} dead {health.dead_letters === 1 ? 'letter' : 'letters'}
      </Link>
      <Link to="/workspaces/$w" params={params}>
        {counted(health.refused)} refused in the last hour
      </Link>
      <Link to="/workspaces/$w/deliveries" params={params} search={{ state: 'WAITING' }}>
        {counted(health.waiting)} waiting
      </Link>
      {events > 0 && (
        <Link to="/workspaces/$w/integrations" params={params}>
          {counted(events)} waiting for a partner
        </Link>
      )}
      {sources > 0 && (
        <Link to="/workspaces/$w/integrations" params={params}>
          {counted(sources)} {sources === 1 ? 'database' : 'databases'} not read
        </Link>
      )}
    </span>
  );
}

function WorkspaceRow({
  name,
  body,
  health,
}: {
  readonly name: string;
  /** undefined: nobody has written its settings, or they are on their way. */
  readonly body: Known['body'] | undefined;
  readonly health: Schemas['WorkspaceHealth'] | undefined;
}): ReactNode {
  const off = useMay('people', null);
  const navigate = useNavigate({ from: '/workspaces' });
  const params = { w: name };
  return (
    <Row>
      <span>
        <h2>
          <Link to="/workspaces/$w" params={params}>
            {name}
          </Link>
        </h2>
        {body && <Quiet>{about(name, body)}</Quiet>}
        {health && <Health health={health} />}
      </span>
      <Actions>
        <Link to="/workspaces/$w/settings" params={params} aria-label={`Settings of ${name}`}>
          Settings
        </Link>
        <Link to="/workspaces/$w/deliveries" params={params}>
          Deliveries
        </Link>
        <Link to="/workspaces/$w/inbox" params={params}>
          Inbox
        </Link>
        {body && body.environment !== 'test' && (
          <Button
            off={off}
            aria-label={`New test environment of ${name}`}
            onPress={() => void navigate({ search: { test: name } })}
          >
            New test environment
          </Button>
        )}
      </Actions>
    </Row>
  );
}
