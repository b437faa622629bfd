import { useMemo, type ReactNode } from 'react';
import { useMay } from '../../api/me.ts';
import { usePages } from '../../api/page-list.ts';
import { Loading, Problem } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { cls } from '../../ui/class-names.ts';
import { NativeSelect } from '../../ui/native-select.tsx';
import { Card } from '../../ui/page.tsx';
import { loadRows, rowsKey, type RowFilter, type Run } from './queries.ts';
import { RowList, type Opening } from './row-list.tsx';
import { dayOptions, DIFFERENCES, ruleOptions, SLOT_STATES } from './run-text.ts';
import styles from './runs.module.css';

type Filtering = {
  readonly run: Run;
  readonly filter: RowFilter;
  readonly onFilter: (filter: RowFilter) => void;
} & Opening;

/** The messages on which the sides of a run differ. People without the permission see the reason instead. */
export function RunMessages(props: Filtering): ReactNode {
  const { id, workspace } = props.run;
  const off = useMay(['configure', 'operate'], workspace);
  const csvOff = useMay('bodies', workspace);
  const query = new URLSearchParams(Object.entries(props.filter)).toString();
  const path = `/v1/workspaces/${encodeURIComponent(workspace)}/runs/${encodeURIComponent(id)}/rows/export`;
  const csv = (
    <a href={query === '' ? path : `${path}?${query}`} download>
      Export as CSV
    </a>
  );
  return (
    <Card title="Messages that differ" beside={off === null && csvOff === null ? csv : undefined}>
      {off === null ? <Rows {...props} /> : <p>{off}</p>}
    </Card>
  );
}

function Rows({ run, filter, onFilter, ...opening }: Filtering): ReactNode {
  const { id, workspace } = run;
  const load = useMemo(() => loadRows(workspace, id, filter), [workspace, id, filter]);
  const { items, error, retry, more, hasMore } = usePages(rowsKey(workspace, id, filter), load, true);
  const set = (name: keyof RowFilter, word: string): void => onFilter(withWord(filter, name, word));
  return (
    <>
      <div className={cls(styles.filters)}>
        <NativeSelect
          label="Difference"
          options={DIFFERENCES}
          value={filter.difference ?? ''}
          onChange={(word) => set('difference', word)}
        />
        <NativeSelect
          label="Delivery"
          options={SLOT_STATES}
          value={filter.slot ?? ''}
          onChange={(word) => set('slot', word)}
        />
        <NativeSelect
          label="Rule"
          options={ruleOptions(run)}
          value={filter.rule ?? ''}
          onChange={(word) => set('rule', word)}
        />
        <NativeSelect
          label="Day (UTC)"
          options={dayOptions(run)}
          value={filter.day ?? ''}
          onChange={(word) => set('day', word)}
        />
      </div>
      {error && <Problem error={error} onRetry={retry} />}
      {!items && !error && <Loading what="messages" rows={4} />}
      {items?.length === 0 && <p>No message differs here.</p>}
      {items && items.length > 0 && <RowList run={run} rows={items} {...opening} />}
      {hasMore && (
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
