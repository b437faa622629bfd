import { useMemo, type ReactNode } from 'react';
import { useMay } from '../../api/me.ts';
import { usePages } from '../../api/page-list.ts';
import { Loading, Problem } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { cls } from '../../ui/class-names.ts';
import { Card } from '../../ui/page.tsx';
import { Id } from '../../ui/text.tsx';
import { FINDINGS, loadFindings, type Run, type RunFinding } from './queries.ts';
import styles from './runs.module.css';

/** The outputs that a verification found wrong. People without the permission see the reason instead. */
export function RunFindings({ run }: { readonly run: Run }): ReactNode {
  const off = useMay(['configure', 'operate'], run.workspace);
  const { verified } = run;
  if (!verified || verified.missing + verified.no_cause + verified.different === 0) return null;
  return <Card title="Findings">{off === null ? <Findings run={run} /> : <p>{off}</p>}</Card>;
}

function Findings({ run: { id, workspace } }: { readonly run: Run }): ReactNode {
  const load = useMemo(() => loadFindings(workspace, id), [workspace, id]);
  const { items, error, retry, more, hasMore } = usePages([FINDINGS, workspace, id], load, true);
  return (
    <>
      {error && <Problem error={error} onRetry={retry} />}
      {!items && !error && <Loading what="findings" rows={4} />}
      {items && items.length > 0 && <FindingTable findings={items} />}
      {hasMore && (
        <Button kind="quiet" onPress={more}>
          More findings
        </Button>
      )}
    </>
  );
}

const PROBLEMS: Readonly<Record<RunFinding['problem'], string>> = {
  missing: 'Missing',
  no_cause: 'Without cause',
  different: 'Different',
};

const FindingTable = ({ findings }: { readonly findings: readonly RunFinding[] }): ReactNode => (
  // A table that scrolls is reached by the keyboard.
  <div className={cls(styles.scroll)} tabIndex={0} role="group" aria-label="Findings">
    <table className={cls(styles.table)}>
      <thead>
        <tr>
          {['Problem', 'Field', 'Rule', 'Output', 'Event', 'Position of the event', 'Position'].map((name) => (
            <th key={name} scope="col">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {findings.map((finding) => (
          <tr key={`${finding.id} ${finding.position}`}>
            <th scope="row">{PROBLEMS[finding.problem]}</th>
            <td>{finding.field ?? '–'}</td>
            <td>{finding.rule}</td>
            <td>
              <Id>{finding.id}</Id>
            </td>
            <td>
              <Id>{finding.event}</Id>
            </td>
            <td>{finding.event_position}</td>
            <td>{finding.position ?? '–'}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);
