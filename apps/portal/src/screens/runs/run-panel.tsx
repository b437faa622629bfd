import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo, type ReactNode } from 'react';
import { useMay } from '../../api/me.ts';
import { usePages } from '../../api/page-list.ts';
import { Loading, Problem } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { cls } from '../../ui/class-names.ts';
import { NativeSelect } from '../../ui/native-select.tsx';
import { Actions, Quiet } from '../../ui/page.tsx';
import { Panel } from '../../ui/split.tsx';
import { Time } from '../../ui/time.tsx';
import { loadRows, PAGE_SIZE, rowsKey, runQuery, type RowFilter, type Run, type RunRow } from './queries.ts';
import { RunResult } from './run-result.tsx';
import { addressText, DIFFERENCES, differenceText, notificationsText, progressText, SLOT_STATES } from './run-text.ts';
import styles from './runs.module.css';

type Filtering = { readonly filter: RowFilter; readonly onFilter: (filter: RowFilter) => void };

/** A comparison: its result, and the messages that differ. */
export function RunPanel({
  workspace,
  id,
  onClose,
  ...filtering
}: Filtering & { readonly workspace: string; readonly id: string; readonly onClose: () => void }): ReactNode {
  const { data: run, error, refetch } = useQuery(runQuery(workspace, id));
  return (
    <Panel id={id} title={run ? notificationsText(run) : 'Comparison'} onClose={onClose}>
      {error && <Problem error={error} onRetry={() => void refetch()} />}
      {!run && !error && <Loading what="the comparison" rows={4} />}
      {run?.ended_at === null && <p role="status">{progressText(run)}</p>}
      {run && run.ended_at !== null && <RunResult run={run} />}
      {run && (
        <Quiet>
          Events from <Time at={run.from} /> to <Time at={run.to} />, compared by{' '}
          {run.created_by.name ?? run.created_by.id}
        </Quiet>
      )}
      {run?.state === 'done' && <Messages run={run} {...filtering} />}
    </Panel>
  );
}

/** The messages that differ. People without the permission see the reason instead. */
function Messages({ run, filter, onFilter }: Filtering & { readonly run: Run }): ReactNode {
  const off = useMay(['configure', 'operate'], run.workspace);
  return (
    <section aria-label="Messages">
      <h3>Messages</h3>
      {off === null ? <Rows run={run} filter={filter} onFilter={onFilter} /> : <p>{off}</p>}
    </section>
  );
}

function Rows({ run, filter, onFilter }: Filtering & { readonly run: Run }): ReactNode {
  const { id, workspace } = run;
  const load = useMemo(() => loadRows(workspace, id, filter), [workspace, id, filter]);
  const { items, error, retry, more } = usePages(rowsKey(workspace, id, filter), load);
  const query = new URLSearchParams(Object.entries(filter)).toString();
  const path = `/v1/workspaces/${encodeURIComponent(workspace)}/runs/${encodeURIComponent(id)}/rows/export`;
  const csvOff = useMay('bodies', workspace);
  return (
    <>
      <Actions>
        <NativeSelect
          label="Difference"
          options={DIFFERENCES}
          value={filter.difference ?? ''}
          onChange={(difference) => onFilter(withWord(filter, 'difference', difference))}
        />
        <NativeSelect
          label="Delivery"
          options={SLOT_STATES}
          value={filter.slot ?? ''}
          onChange={(slot) => onFilter(withWord(filter, 'slot', slot))}
        />
        {csvOff === null && (
          <a href={query === '' ? path : `${path}?${query}`} download>
            Export as CSV
          </a>
        )}
      </Actions>
      {error && <Problem error={error} onRetry={retry} />}
      {!items && !error && <Loading what="messages" rows={4} />}
      {items?.length === 0 && <p>No message differs here.</p>}
      {items && items.length > 0 && (
        <ul aria-label="Messages that differ" className={cls(styles.rows)}>
          {items.map((row) => (
            <MessageRow key={row.slot} row={row} workspace={workspace} />
          ))}
        </ul>
      )}
      {items && items.length > 0 && items.length % PAGE_SIZE === 0 && (
        <Button kind="quiet" onPress={more}>
          More messages
        </Button>
      )}
    </>
  );
}

function withWord(filter: RowFilter, name: keyof RowFilter, word: string): RowFilter {
  const { [name]: _old, ...rest } = filter;
  return word === '' ? rest : { ...rest, [name]: word };
}

function MessageRow({ row, workspace }: { readonly row: RunRow; readonly workspace: string }): ReactNode {
  return (
    <li className={cls(styles.row)}>
      <span>
        {differenceText(row.difference)}: <bdi>{row.person ?? 'the event is gone'}</bdi>
      </span>
      <Quiet>
        {row.rule} by {row.channel}, {addressText(row)} · {row.slot_state_words} · <Time at={row.at} />
      </Quiet>
      <Link to="/workspaces/$w/events/$id" params={{ w: workspace, id: row.event }}>
        Open the event
      </Link>
    </li>
  );
}
