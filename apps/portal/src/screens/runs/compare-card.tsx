import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useMay } from '../../api/me.ts';
import { Loading, Problem } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { Curl } from '../../ui/curl.tsx';
import { Actions, Card, Quiet } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import type { DraftFacts } from '../drafts/queries.ts';
import { FirstRows } from './first-rows.tsx';
import { compareDrafts, draftRunQuery, type Run } from './queries.ts';
import { RunProgress } from './run-progress.tsx';
import { RunResult } from './run-result.tsx';
import { isOutdated } from './run-text.ts';

/** Compares the drafts of a workspace with its published configuration over the last 30 days, before they are published. */
export function CompareCard({
  workspace,
  drafts,
}: {
  readonly workspace: string;
  readonly drafts: readonly DraftFacts[];
}): ReactNode {
  const { data: run, error, refetch } = useQuery(draftRunQuery(workspace));
  const off = useMay(['configure', 'operate'], workspace);
  const start = useMutation({ mutationFn: () => compareDrafts(workspace), onSettled: () => void refetch() });
  const isUnderWay = run !== undefined && run !== null && run.ended_at === null;
  return (
    <Card title="Who would be notified">
      {error && <Problem error={error} onRetry={() => void refetch()} />}
      {run === undefined && !error && <Loading what="the comparison" rows={1} />}
      {run === null && (
        <p>Evaluates the events of the last 30 days again, with and without the drafts. Nothing is sent.</p>
      )}
      {run && <Compared run={run} drafts={drafts} onChange={() => void refetch()} />}
      {start.error && <Problem error={start.error} />}
      <Actions>
        <Button off={off} isDisabled={isUnderWay || start.isPending} onPress={() => start.mutate()}>
          Compare with the last 30 days
        </Button>
      </Actions>
      <Curl
        call={{ method: 'POST', path: `/v1/workspaces/${workspace}/runs`, body: { kind: 'compare', drafts: true } }}
      />
    </Card>
  );
}

/** A comparison of drafts: its progress, then its result. */
function Compared({
  run,
  drafts,
  onChange,
}: {
  readonly run: Run;
  readonly drafts: readonly DraftFacts[];
  readonly onChange: () => void;
}): ReactNode {
  if (run.ended_at === null) return <RunProgress run={run} onChange={onChange} />;
  return (
    <>
      {isOutdated(run, drafts) && (
        <p role="note">The drafts changed since this comparison. Compare again to see their effect.</p>
      )}
      <RunResult run={run} />
      {run.state === 'done' && <FirstRows run={run} />}
      <Quiet>
        Compared <Time at={run.created_at} ago /> by {run.created_by.name ?? run.created_by.id}.{' '}
        <Link to="/workspaces/$w/runs/$id" params={{ w: run.workspace, id: run.id }}>
          Open the comparison
        </Link>
      </Quiet>
    </>
  );
}
