import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { cls } from '../../ui/class-names.ts';
import { Code } from '../../ui/text.tsx';
import { newestEventsQuery } from '../rule/queries.ts';
import type { ChangeFacts } from './change-text.ts';
import { fullSql } from './stream-drafts.ts';
import styles from './sources.module.css';

/** Says that the database does not send the row before a change of a table, with the SQL that makes it do so. */
export function NoRowBefore({ table }: { readonly table: string }): ReactNode {
  return (
    <div role="note" aria-label={`The row before in ${table}`} className={cls(styles.problem)}>
      <p>
        For an update in {table}, PostgreSQL sends only the key of the row before. Rules see the new values only:
        <i> changed</i>, <i>changed to</i> and <i>previous</i> fail. This statement makes PostgreSQL send the whole row
        before. It then writes more WAL for each update and delete.
      </p>
      <Code text={fullSql(table)} what={`the SQL for the row before of ${table}`} />
    </div>
  );
}

/** The same for each table of a database whose newest update on a stream came without the row before. */
export function NoRowsBefore({
  workspace,
  stream,
}: {
  readonly workspace: string;
  /** Its path, such as `shop/orders`. */
  readonly stream: string;
}): ReactNode {
  const { data } = useQuery(newestEventsQuery(workspace, stream));
  const changes = (data?.items ?? []).flatMap(({ change }) => change ?? []);
  return tablesWithoutRowBefore(changes).map((table) => <NoRowBefore key={table} table={table} />);
}

/** `changes`: newest first. */
function tablesWithoutRowBefore(changes: readonly ChangeFacts[]): readonly string[] {
  const newestUpdates = new Map(
    changes
      .filter(({ op }) => op === 'update')
      .toReversed()
      .map((change) => [change.table, change]),
  );
  return [...newestUpdates.values()].filter((change) => !change.before_known).map(({ table }) => table);
}
