import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useMayInAll } from '../../api/me.ts';
import { Loading, Problem } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { counted } from '../drafts/change-words.ts';
import { beginEach, type Begun } from '../jobs/by-workspace.ts';
import { Foot } from '../jobs/job-progress.tsx';
import { JobDialog, StartJob } from '../jobs/start-job.tsx';
import {
  countSuppressions,
  removeSuppressions,
  SUPPRESSIONS,
  type ChosenEntries,
  type SuppressionFilter,
} from './calls.ts';
import { ChosenAction } from './chosen-action.tsx';
import { byWorkspace, sourceMeaning, type Suppression } from './entry-text.ts';

const TITLE = 'Send to these addresses again?';
const addressesWords = (count: number): string => counted(count, 'address', 'addresses');

type Part = { readonly workspace: string; readonly which: ChosenEntries };
type QuestionProps = {
  readonly parts: readonly Part[];
  /** Sources of the entries, for what taking them back means. */
  readonly sources: readonly string[];
  readonly onJob: (begun: Begun) => void;
  readonly onLeave: () => void;
};

/** Takes back the entries that were chosen in the list. */
export function ChosenSuppressions({
  chosen,
  onClear,
}: {
  readonly chosen: readonly Suppression[];
  readonly onClear: () => void;
}): ReactNode {
  const off = useMayInAll('operate', [...new Set(chosen.map(({ workspace }) => workspace))]);
  return (
    <ChosenAction
      count={chosen.length}
      fitting={chosen}
      verb="Remove"
      title={TITLE}
      off={off}
      changes={SUPPRESSIONS}
      onClear={onClear}
    >
      {(asked, onJob, leave) => (
        <Question parts={partsOf(asked)} sources={asked.map(({ source }) => source)} onJob={onJob} onLeave={leave} />
      )}
    </ChosenAction>
  );
}

const partsOf = (rows: readonly Suppression[]): readonly Part[] =>
  [...Map.groupBy(rows, ({ workspace }) => workspace)].map(([workspace, own]) => ({
    workspace,
    which: { entries: own.map(({ channel, address, source }) => ({ channel, address, source })) },
  }));

/** Takes back all entries that the list shows. */
export function AllSuppressions({
  workspace,
  filter,
  onClose,
}: {
  readonly workspace: string;
  readonly filter: SuppressionFilter;
  readonly onClose: () => void;
}): ReactNode {
  const sources = filter.source === undefined ? [] : [filter.source];
  return (
    <JobDialog title={TITLE} changes={SUPPRESSIONS} onClose={onClose}>
      {(onJob, leave) => (
        <Question parts={[{ workspace, which: { filter } }]} sources={sources} onJob={onJob} onLeave={leave} />
      )}
    </JobDialog>
  );
}

/** Shows the number of addresses before the job starts. */
function Question({ parts, sources, onJob, onLeave }: QuestionProps): ReactNode {
  const { data, error, refetch } = useQuery({
    queryKey: [SUPPRESSIONS, 'count', parts],
    queryFn: () =>
      Promise.all(
        parts.map(async ({ workspace, which }) => ({
          workspace,
          which,
          ...(await countSuppressions(workspace, which)),
        })),
      ),
    staleTime: 0,
    gcTime: 0,
  });
  if (error) return <Problem error={error} onRetry={() => void refetch()} />;
  if (!data) return <Loading what="the count" rows={2} />;
  const isOfSeveral = parts.length > 1;
  const removed = data.reduce((sum, one) => sum + one.removed, 0);
  if (removed === 0) {
    return (
      <>
        <p>None of these addresses is suppressed any more.</p>
        <Foot>
          <Button onPress={onLeave}>Close</Button>
        </Foot>
      </>
    );
  }
  const isMore = data.some(({ more }) => more);
  const still = data.filter((one) => one.still > 0);
  const starts = data
    .filter((one) => one.removed > 0)
    .map(({ workspace, which, removed: expected }) => ({
      workspace,
      body: { ...which, ...('filter' in which && { expected }) },
    }));
  return (
    <StartJob
      workspaces={starts.map(({ workspace }) => workspace)}
      verb={`Remove ${removed.toLocaleString('en')}`}
      kind="danger"
      calls={starts.map(({ workspace, body }) => ({
        method: 'POST',
        path: `/v1/workspaces/${workspace}/suppressions/remove-many`,
        body,
      }))}
      start={() => beginEach(starts, ({ workspace, body }) => removeSuppressions(workspace, body))}
      isOff={isMore}
      onJob={onJob}
      onRefused={() => void refetch()}
      onLeave={onLeave}
    >
      <p>
        From now on messages are sent again to{' '}
        {byWorkspace(
          data.map((one) => ({ ...one, words: addressesWords(one.addresses - one.still) })),
          isOfSeveral,
        )}{' '}
        {still.length > 0 &&
          `; ${byWorkspace(
            still.map((one) => ({ ...one, words: `${one.still.toLocaleString('en')} more` })),
            isOfSeveral,
          )} stay suppressed by another source`}
        . Messages held back before are not sent.
      </p>
      {[...new Set(sources.map(sourceMeaning))].map((meaning) => (
        <p key={meaning}>{meaning}</p>
      ))}
      {isMore && <p role="alert">More addresses match than one job can remove. Narrow the filter first.</p>}
    </StartJob>
  );
}
