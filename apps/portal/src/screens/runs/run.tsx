import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useMemo, type ReactNode } from 'react';
import { Loading, Problem } from '../../ui/answers.tsx';
import { Card, PageBody, PageHead } from '../../ui/page.tsx';
import { Facts, Id } from '../../ui/text.tsx';
import { Time } from '../../ui/time.tsx';
import { MissingCard } from './missing-card.tsx';
import { runQuery, type Run } from './queries.ts';
import { RunFindings } from './run-findings.tsx';
import { RunMessages } from './run-messages.tsx';
import { RunProgress } from './run-progress.tsx';
import { RunResult } from './run-result.tsx';
import { RunRules } from './run-rules.tsx';
import { notificationsText, sidesText, titleOf } from './run-text.ts';

const FROM = '/workspaces/$w/runs/$id';

/** One comparison: its progress or its result, its messages by rule, and each message that differs. */
export function RunPage(): ReactNode {
  const { w, id } = useParams({ from: FROM });
  const search = useSearch({ from: FROM });
  const filter = useMemo(() => {
    const { open: _open, ...words } = search;
    return words;
  }, [search]);
  const navigate = useNavigate({ from: FROM });
  const { data: run, error, refetch } = useQuery(runQuery(w, id));
  return (
    <>
      <PageHead
        title={run ? titleOf(run) : 'Comparison'}
        crumbs={[
          <Link key="runs" to="/workspaces/$w/runs" params={{ w }}>
            Comparisons
          </Link>,
        ]}
        {...(run && { lead: sidesText(run) })}
      />
      <PageBody>
        {error && <Problem error={error} onRetry={() => void refetch()} />}
        {!run && !error && <Loading what="the comparison" />}
        {run && (
          <Card title={run.kind === 'compare' ? 'Who would be notified' : 'Result'}>
            {run.ended_at === null ? (
              <RunProgress run={run} onChange={() => void refetch()} />
            ) : (
              <RunResult run={run} />
            )}
          </Card>
        )}
        {run?.state === 'done' && run.counts !== null && run.counts.by_rule.length > 0 && (
          <Card title="By rule">
            <RunRules counts={run.counts} />
          </Card>
        )}
        {run?.state === 'done' && run.kind === 'compare' && (
          <RunMessages
            run={run}
            filter={filter}
            onFilter={(next) => void navigate({ search: next, replace: true })}
            open={search.open ?? null}
            onOpen={(slot) =>
              void navigate({ search: slot === null ? filter : { ...filter, open: slot }, replace: true })
            }
          />
        )}
        {run?.state === 'done' && run.kind === 'compare' && <MissingCard run={run} />}
        {run?.state === 'done' && run.kind === 'verify' && <RunFindings run={run} />}
        {run && <AboutRun run={run} />}
      </PageBody>
    </>
  );
}

const ABOUT: Readonly<Record<Run['kind'], string>> = {
  compare: 'About this comparison',
  verify: 'About this verification',
  find: 'About this search',
};
const DID: Readonly<Record<Run['kind'], string>> = { compare: 'Compared', verify: 'Verified', find: 'Searched' };

function AboutRun({ run }: { readonly run: Run }): ReactNode {
  const { from, to, created_by: by, created_at: at, kept_until: keptUntil, checksum } = run;
  return (
    <Card title={ABOUT[run.kind]}>
      <Facts
        facts={[
          ['Notifications', run.kind === 'compare' && notificationsText(run)],
          [
            'Events',
            <>
              from <Time at={run.kind === 'find' ? (run.log_starts_at ?? from) : from} /> to <Time at={to} />
            </>,
          ],
          [
            DID[run.kind],
            <>
              <Time at={at} /> by {by.name ?? by.id}
            </>,
          ],
          ['Deleted', keptUntil !== null && <Time at={keptUntil} />],
          ['Checksum', checksum !== null && <Id>{checksum}</Id>],
        ]}
      />
    </Card>
  );
}
