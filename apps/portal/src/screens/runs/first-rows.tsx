import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useMay } from '../../api/me.ts';
import { Loading, Problem } from '../../ui/answers.tsx';
import { cls } from '../../ui/class-names.ts';
import { firstRowsQuery, type Run } from './queries.ts';
import { RowFacts } from './row-list.tsx';
import styles from './runs.module.css';

/** The first messages on which the sides of a run differ, for people who may compare. */
export function FirstRows({ run }: { readonly run: Run }): ReactNode {
  const off = useMay(['configure', 'operate'], run.workspace);
  const { data, error, refetch } = useQuery({ ...firstRowsQuery(run.workspace, run.id), enabled: off === null });
  if (off !== null) return null;
  if (error) return <Problem error={error} onRetry={() => void refetch()} />;
  if (!data) return <Loading what="messages" rows={2} />;
  if (data.items.length === 0) return null;
  return (
    <ul aria-label="First messages that differ" className={cls(styles.rows)}>
      {data.items.map((row) => (
        <li key={row.slot} className={cls(styles.row, styles.plain)}>
          <RowFacts row={row} />
        </li>
      ))}
    </ul>
  );
}
