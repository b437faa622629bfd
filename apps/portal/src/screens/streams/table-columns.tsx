import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { Schemas } from '../../api/client.ts';
import { useIsMeKnown, useMay } from '../../api/me.ts';
import { Loading, Problem } from '../../ui/answers.tsx';
import { cls } from '../../ui/class-names.ts';
import { ProblemFix } from '../sources/problem-fix.tsx';
import { tablesQuery } from '../sources/queries.ts';
import { columnsOf } from './column-fields.ts';
import styles from './streams.module.css';

type StreamSource = NonNullable<Schemas['StreamFieldPage']['source']>;

/** Columns that changes of a stream will have, read from its database before the first change. */
export function TableColumns({
  workspace,
  source,
}: {
  readonly workspace: string;
  readonly source: StreamSource;
}): ReactNode {
  const off = useMay('configure', workspace);
  const isKnown = useIsMeKnown();
  const { data, error, refetch } = useQuery({
    ...tablesQuery(workspace, source.integration),
    enabled: isKnown && off === null,
  });
  if (off !== null) return <p className={cls(styles.note)}>The columns are read from the database. {off}</p>;
  if (error) return <Problem error={error} onRetry={() => void refetch()} />;
  if (!data) return <Loading what="columns" rows={4} />;
  if (data.problem !== null) return <ProblemFix {...data.problem} of="the database" />;
  const columns = columnsOf(source.tables, data.items);
  if (columns.length === 0) return <p>The database shows no column of its tables.</p>;
  return (
    <div className={cls(styles.scroll)} tabIndex={0} role="group" aria-label="Columns of changes, as a table">
      <table className={cls(styles.table)}>
        <thead>
          <tr>
            <th scope="col">Column</th>
            <th scope="col">Type</th>
            <th scope="col">Key</th>
            <th scope="col">Table</th>
          </tr>
        </thead>
        <tbody>
          {columns.map(({ table, name, type, key }) => (
            <tr key={`${table}.${name}`}>
              <th scope="row">
                <code>{name}</code>
              </th>
              <td>{type}</td>
              <td>{key ? 'key' : '–'}</td>
              <td>{table}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
