import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { api, bodyOf, type Schemas } from '../../api/client.ts';
import { useMayInAll } from '../../api/me.ts';
import { Loading, Problem } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { ChosenBar } from '../../ui/chosen-bar.tsx';
import { cls } from '../../ui/class-names.ts';
import type { Call } from '../../ui/curl-words.ts';
import { Quiet } from '../../ui/page.tsx';
import { useLetter } from '../../ui/use-letter.ts';
import { beginEach, groupsOf, inWords, type Begun, type Group } from '../jobs/by-workspace.ts';
import { Foot } from '../jobs/job-progress.tsx';
import { JobDialog, StartJob } from '../jobs/start-job.tsx';
import styles from './deliveries.module.css';

type Props = { readonly workspace: string; readonly onClose: (isBegun: boolean) => void };
type Redrive = { readonly filter: object; readonly expected: number } | { readonly ids: readonly string[] };

const LETTERS = '/v1/workspaces/{workspace}/dead-letters';
const counted = (count: number): string => `${count.toLocaleString('en')} ${count === 1 ? 'record' : 'records'}`;
const WHOM = 'The people are known once the records are processed. Nobody is notified twice.';

const begin = (workspace: string, body: Redrive) =>
  bodyOf(
    api.POST('/v1/workspaces/{workspace}/dead-letters/redrive', {
      params: { path: { workspace } },
      body: body as never,
    }),
  );
const callOf = (workspace: string, body: Redrive): Call => ({
  method: 'POST',
  path: `/v1/workspaces/${workspace}/dead-letters/redrive`,
  body,
});

/** Puts all open records on their topics once more, as a job; how many these are is asked first. */
export function RedriveAll({ workspace, onClose }: Props): ReactNode {
  return (
    <JobDialog title="Redrive all open records" changes={LETTERS} onClose={onClose}>
      {(onJob, leave) => <Question workspace={workspace} onJob={onJob} onLeave={leave} />}
    </JobDialog>
  );
}

function Question({
  workspace,
  onJob,
  onLeave,
}: {
  readonly workspace: string;
  readonly onJob: (begun: Begun) => void;
  readonly onLeave: () => void;
}): ReactNode {
  const params = { path: { workspace } };
  const { data, error, refetch } = useQuery({
    queryKey: ['/v1/workspaces/{workspace}/dead-letters/count', workspace, 'asked'],
    queryFn: ({ signal }) => bodyOf(api.GET('/v1/workspaces/{workspace}/dead-letters/count', { params, signal })),
    staleTime: 0,
    gcTime: 0,
  });
  if (error) return <Problem error={error} onRetry={() => void refetch()} />;
  if (!data) return <Loading what="the count" rows={2} />;
  const leftOut = data.receipts > 0 && (
    <p>
      {data.receipts.toLocaleString('en')} parked {data.receipts === 1 ? 'receipt is' : 'receipts are'} not redriven,
      because most would match no delivery again. Match them one at a time, under Receipts.
    </p>
  );
  if (data.count === 0) {
    return (
      <div className={cls(styles.bulk)}>
        <p>No open dead letters: each one was redriven or dismissed.</p>
        {leftOut}
        <Foot>
          <Button onPress={onLeave}>Close</Button>
        </Foot>
      </div>
    );
  }
  const body = { filter: {}, expected: data.count };
  return (
    <StartJob
      workspaces={[workspace]}
      verb={`Redrive ${counted(data.count)}`}
      calls={[callOf(workspace, body)]}
      start={() => beginEach([{ workspace }], () => begin(workspace, body))}
      isOff={data.more}
      onJob={onJob}
      onRefused={() => void refetch()}
      onLeave={onLeave}
    >
      <p>
        {counted(data.count)}, neither redriven nor dismissed yet. {WHOM}
      </p>
      {leftOut}
      {data.more && (
        <p role="alert">
          One job takes at most {data.ceiling.toLocaleString('en')} records, and more are open. Redrive by time on the
          command line: <code>npx carillon dead-letters redrive --all --since 1h</code>
        </p>
      )}
    </StartJob>
  );
}

/** What can be done with the records that were chosen in the list. */
export function ChosenLetters({
  chosen,
  onClear,
}: {
  readonly chosen: readonly Schemas['DeadLetter'][];
  readonly onClear: () => void;
}): ReactNode {
  const groups = groupsOf(chosen);
  const off = useMayInAll(
    'operate',
    groups.map(({ workspace }) => workspace),
  );
  const [asked, setAsked] = useState<readonly Group[] | null>(null);
  const isOfOne = chosen.every(({ workspace }) => workspace !== null);
  const fitting =
    isOfOne && chosen.every((one) => one.dismissed_at === null && !['receipts', 'append'].includes(one.stage));
  const ask = (): void => setAsked(groups);
  const count = (asked ?? []).reduce((sum, { ids }) => sum + ids.length, 0);
  useLetter('R', () => {
    if (off === null && asked === null && chosen.length > 0 && fitting) ask();
  });
  return (
    <>
      <ChosenBar count={chosen.length} onClear={onClear}>
        {fitting ? (
          <Button off={off} onPress={ask}>
            Redrive…
          </Button>
        ) : (
          <Quiet>
            {isOfOne
              ? 'Some are dismissed, or are receipts or refused changes. Open those one at a time.'
              : 'Some belong to no workspace. Redrive those one at a time.'}
          </Quiet>
        )}
      </ChosenBar>
      {asked !== null && (
        <JobDialog
          title="Redrive the chosen records"
          changes={LETTERS}
          onClose={(isBegun) => {
            setAsked(null);
            if (isBegun) onClear();
          }}
        >
          {(onJob, leave) => (
            <StartJob
              workspaces={asked.map(({ workspace }) => workspace)}
              verb={`Redrive ${counted(count)}`}
              calls={asked.map(({ workspace, ids }) => callOf(workspace, { ids }))}
              start={() => beginEach(asked, ({ workspace, ids }) => begin(workspace, { ids }))}
              onJob={onJob}
              onLeave={leave}
            >
              <p>
                {counted(count)}
                {inWords(asked.length)}. {WHOM}
              </p>
            </StartJob>
          )}
        </JobDialog>
      )}
    </>
  );
}
