import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useMayInAll } from '../../api/me.ts';
import { Loading, Problem } from '../../ui/answers.tsx';
import { counted } from '../drafts/change-words.ts';
import { beginEach, type Begun } from '../jobs/by-workspace.ts';
import { Foot } from '../jobs/job-progress.tsx';
import { JobDialog, StartJob } from '../jobs/start-job.tsx';
import { Button } from '../../ui/button.tsx';
import { allowConsents, CONSENTS, countConsents, type ChosenPeople } from './calls.ts';
import { ChosenAction } from './chosen-action.tsx';
import { byWorkspace, isOut, type Consent } from './entry-text.ts';

const TITLE = 'Send to these people again?';
const peopleWords = (count: number): string => counted(count, 'person', 'people');

type Part = { readonly workspace: string; readonly which: ChosenPeople };
type QuestionProps = {
  readonly parts: readonly Part[];
  readonly onJob: (begun: Begun) => void;
  readonly onLeave: () => void;
};

/** Allows everything again for the people who were chosen in the list. */
export function ChosenOptOuts({
  chosen,
  onClear,
}: {
  readonly chosen: readonly Consent[];
  readonly onClear: () => void;
}): ReactNode {
  const out = chosen.filter(isOut);
  const off = useMayInAll('operate', [...new Set(out.map(({ workspace }) => workspace))]);
  return (
    <ChosenAction
      count={chosen.length}
      fitting={out}
      verb="Undo their opt-outs"
      title={TITLE}
      otherwise="These people have no opt-outs any more."
      off={off}
      changes={CONSENTS}
      onClear={onClear}
    >
      {(asked, onJob, leave) => <Question parts={partsOf(asked)} onJob={onJob} onLeave={leave} />}
    </ChosenAction>
  );
}

const partsOf = (rows: readonly Consent[]): readonly Part[] =>
  [...Map.groupBy(rows, ({ workspace }) => workspace)].map(([workspace, own]) => ({
    workspace,
    which: { people: own.map(({ person }) => person) },
  }));

/** Allows everything again for all people that the list shows. */
export function AllOptOuts({
  workspace,
  person,
  onClose,
}: {
  readonly workspace: string;
  /** Empty for everybody. */
  readonly person: string;
  readonly onClose: () => void;
}): ReactNode {
  const which = { filter: person === '' ? {} : { person } };
  return (
    <JobDialog title={TITLE} changes={CONSENTS} onClose={onClose}>
      {(onJob, leave) => <Question parts={[{ workspace, which }]} onJob={onJob} onLeave={leave} />}
    </JobDialog>
  );
}

/** Shows the number of people before the job starts. */
function Question({ parts, onJob, onLeave }: QuestionProps): ReactNode {
  const { data, error, refetch } = useQuery({
    queryKey: [CONSENTS, 'count', parts],
    queryFn: () =>
      Promise.all(
        parts.map(async ({ workspace, which }) => ({ workspace, which, ...(await countConsents(workspace, which)) })),
      ),
    staleTime: 0,
    gcTime: 0,
  });
  if (error) return <Problem error={error} onRetry={() => void refetch()} />;
  if (!data) return <Loading what="the count" rows={2} />;
  const starts = data
    .filter(({ people }) => people > 0)
    .map(({ workspace, which, people }) => ({
      workspace,
      people,
      body: { ...which, ...('filter' in which && { expected: people }) },
    }));
  if (starts.length === 0) {
    return (
      <>
        <p>These people have no opt-outs any more.</p>
        <Foot>
          <Button onPress={onLeave}>Close</Button>
        </Foot>
      </>
    );
  }
  const isMore = data.some(({ more }) => more);
  const whom = byWorkspace(
    starts.map(({ workspace, people }) => ({ workspace, words: peopleWords(people) })),
    parts.length > 1,
  );
  return (
    <StartJob
      workspaces={starts.map(({ workspace }) => workspace)}
      verb={`Send to ${whom} again`}
      kind="danger"
      calls={starts.map(({ workspace, body }) => ({
        method: 'POST',
        path: `/v1/workspaces/${workspace}/consents/allow-many`,
        body,
      }))}
      start={() => beginEach(starts, ({ workspace, body }) => allowConsents(workspace, body))}
      isOff={isMore}
      onJob={onJob}
      onRefused={() => void refetch()}
      onLeave={onLeave}
    >
      <p>{whom} will get again what they opted out of. Messages held back before are not sent.</p>
      <p>Do this only if they asked for it, or if the opt-outs were a mistake, such as a wrong file.</p>
      {isMore && <p role="alert">More people opted out than one job can change. Select people in the list.</p>}
    </StartJob>
  );
}
