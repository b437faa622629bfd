import { useMutation, useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { useMay } from '../../api/me.ts';
import type { EditedDraft } from '../../api/use-draft.ts';
import { Loading, Problem } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { cls } from '../../ui/class-names.ts';
import { Curl } from '../../ui/curl.tsx';
import { Field } from '../../ui/field.tsx';
import { Actions, Card } from '../../ui/page.tsx';
import { streamsQuery } from '../streams/queries.ts';
import { MadeStreams, MakeStreams } from './make-streams.tsx';
import { ProblemFix } from './problem-fix.tsx';
import { readTables, tablesCall, type DatabaseTable } from './queries.ts';
import { streamsOf, streamsReading, type ChosenTable, type NewStream } from './stream-drafts.ts';
import { TableRow } from './table-row.tsx';
import styles from './sources.module.css';

/** A longer list has a field to find a table. */
const FEW_TABLES = 12;
/** Tables drawn at once. */
const MAX_SHOWN = 100;

/** Tables of the database, to choose those whose changes become events. */
export function Tables({
  workspace,
  name,
  hasDraft,
  saveNow,
}: Pick<EditedDraft<'integrations'>, 'workspace' | 'name' | 'hasDraft' | 'saveNow'>): ReactNode {
  const off = useMay('configure', workspace);
  // The newest list stays while the next one is read, so that nothing chosen is lost.
  const [tables, setTables] = useState<readonly DatabaseTable[]>([]);
  const list = useMutation({
    onSuccess: ({ items }) => setTables(items),
    mutationFn: async () => {
      await saveNow();
      return readTables(workspace, name, hasDraft);
    },
  });
  return (
    <Card title="Tables">
      <p>Carillon reads changes of the tables that you choose. Rows that are there already fire no rule.</p>
      <Actions>
        <Button off={off} isDisabled={list.isPending} onPress={() => list.mutate()}>
          {list.isPending ? 'Listing tables' : 'List the tables'}
        </Button>
      </Actions>
      <Curl call={tablesCall(workspace, name, hasDraft)} />
      {list.error && <Problem error={list.error} onRetry={() => list.mutate()} />}
      {list.isPending && tables.length === 0 && <Loading what="tables" />}
      {list.data?.problem && <ProblemFix {...list.data.problem} of="the database" />}
      {list.data && list.data.problem === null && list.data.items.length === 0 && (
        <p role="status">The database has no table that its role may see.</p>
      )}
      {tables.length > 0 && <TableChoice workspace={workspace} integration={name} tables={tables} />}
    </Card>
  );
}

function TableChoice({
  workspace,
  integration,
  tables,
}: {
  readonly workspace: string;
  readonly integration: string;
  readonly tables: readonly DatabaseTable[];
}): ReactNode {
  const [all, setChosen] = useState<readonly ChosenTable[]>([]);
  // A table may be gone or unreadable since it was chosen.
  const chosen = all.filter((choice) =>
    tables.some(({ table, problem }) => table === choice.table && problem === null),
  );
  const [made, setMade] = useState<readonly NewStream[]>([]);
  const published = useQuery(streamsQuery(workspace)).data?.items ?? [];
  const [sought, setSought] = useState('');
  const isChosen = (table: string): boolean => chosen.some((choice) => choice.table === table);
  const found = tables.filter(
    ({ table }) => isChosen(table) || table.toLowerCase().includes(sought.trim().toLowerCase()),
  );
  const shown = [
    ...found.filter(({ table }) => isChosen(table)),
    ...found.filter(({ table }) => !isChosen(table)),
  ].slice(0, MAX_SHOWN);
  const put = (table: string, next: ChosenTable | null): void =>
    setChosen((before) => {
      const others = before.filter((choice) => choice.table !== table);
      return next === null ? others : [...others, next].toSorted((a, b) => (a.table < b.table ? -1 : 1));
    });
  const finish = (streams: readonly NewStream[]): void => {
    const drafted = streams.flatMap(({ body }) => Object.keys(body.from?.tables ?? {}));
    setChosen((before) => before.filter(({ table }) => !drafted.includes(table)));
    setMade((before) => [...before, ...streams]);
  };
  return (
    <>
      {tables.length > FEW_TABLES && (
        <Field label="Find a table" type="search" autoComplete="off" value={sought} onChange={setSought} />
      )}
      <ul aria-label="Tables" className={cls(styles.tables)}>
        {shown.map((table) => (
          <TableRow
            key={table.table}
            table={table}
            streams={streamsReading(integration, table.table, [...published, ...made])}
            chosen={chosen.find((choice) => choice.table === table.table) ?? null}
            onChange={(next) => put(table.table, next)}
          />
        ))}
      </ul>
      {found.length > shown.length && (
        <p role="status">
          These are {shown.length} of {found.length} tables. Find the others by name.
        </p>
      )}
      {found.length === 0 && <p role="status">No table has this in its name.</p>}
      {chosen.length > 0 && (
        <MakeStreams
          workspace={workspace}
          integration={integration}
          what="table"
          chosen={chosen.map(({ table }) => table)}
          streamsOf={(layout) => streamsOf(integration, chosen, layout)}
          onMade={finish}
        />
      )}
      {made.length > 0 && <MadeStreams workspace={workspace} streams={made.map(({ name }) => name)} />}
    </>
  );
}
