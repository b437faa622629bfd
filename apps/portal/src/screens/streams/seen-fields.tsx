import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useMay } from '../../api/me.ts';
import { Loading, Problem } from '../../ui/answers.tsx';
import { cls } from '../../ui/class-names.ts';
import { Card } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { mostSeen } from '../rule/completion.ts';
import { fieldsQuery } from '../rule/queries.ts';
import { TableColumns } from './table-columns.tsx';
import styles from './streams.module.css';

/** Fields that events were seen to have: rules and templates are completed from them. */
export function SeenFields({ workspace, path }: { readonly workspace: string; readonly path: string }): ReactNode {
  const { data, error, refetch } = useQuery({ ...fieldsQuery(workspace, path), refetchInterval: 10_000 });
  const bodies = useMay('bodies', workspace);
  const most = mostSeen(data?.items ?? []);
  const source = data?.source ?? null;
  return (
    <Card title="Fields seen">
      {error && <Problem error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Loading what="fields" rows={4} />}
      {data?.items.length === 0 && source === null && (
        <p>No fields yet. Carillon learns the fields from the events of this stream.</p>
      )}
      {data?.items.length === 0 && source !== null && (
        <>
          <p>No columns yet. The first change shows the columns of its table.</p>
          <TableColumns workspace={workspace} source={source} />
        </>
      )}
      {data && data.items.length > 0 && (
        <>
          <div className={cls(styles.scroll)} tabIndex={0} role="group" aria-label="Fields seen, as a table">
            <table className={cls(styles.table)}>
              <thead>
                <tr>
                  <th scope="col">Field</th>
                  <th scope="col">Type</th>
                  {source !== null && <th scope="col">Table</th>}
                  <th scope="col">Number of events</th>
                  <th scope="col">Newest value</th>
                  <th scope="col">Last seen</th>
                </tr>
              </thead>
              <tbody>
                {data.items.map((field) => (
                  <tr key={field.path}>
                    <th scope="row">
                      <code>{field.path}</code>
                    </th>
                    <td>{field.types.join(' or ')}</td>
                    {source !== null && <td>{field.tables.join(', ')}</td>}
                    <td>
                      {/* A share of the most frequent field’s count: events are not counted by themselves. */}
                      {Math.round((field.count / most) * 100)} % <small>{field.count.toLocaleString('en')}</small>
                    </td>
                    <td>{field.sample === null ? '–' : <code>{field.sample}</code>}</td>
                    <td>
                      <Time at={field.last_seen} />
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
          {bodies !== null && <p className={cls(styles.note)}>Values are hidden. {bodies}</p>}
        </>
      )}
    </Card>
  );
}
