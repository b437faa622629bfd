import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Loading, Problem } from '../../ui/answers.tsx';
import { cls } from '../../ui/class-names.ts';
import { Curl } from '../../ui/curl.tsx';
import { Card, Quiet } from '../../ui/page.tsx';
import { Facts } from '../../ui/text.tsx';
import { Time } from '../../ui/time.tsx';
import { counted } from '../drafts/change-words.ts';
import { hasTopics } from '../integrations/integration-roles.ts';
import { ProblemFix } from './problem-fix.tsx';
import { sourcesQuery, type Source } from './queries.ts';
import { ResetButton, SourceState } from './source-state.tsx';
import { lagText } from './source-text.ts';
import styles from './sources.module.css';

/** The source with this name: state, lag, last change, and which tables are read. */
export function SourceCard({
  workspace,
  name,
  tables,
  isLinked = false,
  children,
}: {
  readonly workspace: string;
  /** Name of the integration. */
  readonly name: string;
  /** Tables to show. Left out: all that streams take from it. */
  readonly tables?: readonly string[];
  /** Stands outside the page of the integration. */
  readonly isLinked?: boolean;
  /** Stands below the state. */
  readonly children?: ReactNode;
}): ReactNode {
  const { data, error, refetch } = useQuery(sourcesQuery(workspace));
  const source = data?.items.find((item) => item.name === name);
  return (
    <Card title="Source" beside={source && <ResetButton source={source} />}>
      {error && <Problem error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Loading what="the source" rows={3} />}
      {data && !source && (
        <p role="status">
          Carillon does not read this source yet. Reading starts seconds after you publish the first stream.
        </p>
      )}
      {source && (
        <>
          <SourceState source={source} />
          <Facts
            facts={[
              [
                'Read from',
                isLinked ? (
                  <Link key="database" to="/workspaces/$w/integrations/$i" params={{ w: workspace, i: name }}>
                    {name}
                  </Link>
                ) : null,
              ],
              ['Lag', lagText(source)],
              [
                hasTopics(source) ? 'Last record' : 'Last change',
                source.last_change_at === null ? 'None yet' : <Time key="last" at={source.last_change_at} ago />,
              ],
              ['Read until', source.read_until === null ? null : <Time key="until" at={source.read_until} />],
            ]}
          />
          <ReadTables tables={source.tables.filter(({ table }) => tables?.includes(table) ?? true)} />
        </>
      )}
      {children}
      <Curl call={{ method: 'GET', path: `/v1/workspaces/${workspace}/sources` }} />
    </Card>
  );
}

function ReadTables({ tables }: { readonly tables: Source['tables'] }): ReactNode {
  if (tables.length === 0) return null;
  return (
    <ul aria-label="Tables of the source" className={cls(styles.read)}>
      {tables.map(({ table, since, problem, lag_records: lag, gap }) => (
        <li key={table}>
          <span className={cls(styles.line)}>
            <bdi>{table}</bdi>
            {problem === null && (
              <Quiet>
                {since === null ? (
                  'not read yet'
                ) : (
                  <>
                    read since <Time at={since} />
                  </>
                )}
                {lag !== null && lag > 0 && `, ${counted(lag, 'record')} not read yet`}
              </Quiet>
            )}
          </span>
          {problem !== null && <ProblemFix {...problem} of={table} />}
          {gap !== null && <Quiet>{gap}</Quiet>}
        </li>
      ))}
    </ul>
  );
}
