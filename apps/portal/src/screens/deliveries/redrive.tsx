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
const WHOM = 'Whom they tell is known once they are processed; nobody is told twice of the same.';

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
    <JobDialog title="Redrive all that are open" changes={LETTERS} onClose={onClose}>
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
      {data.receipts.toLocaleString('en')} parked {data.receipts === 1 ? 'receipt is' : 'receipts are'} left out: most
      would fit no better the next time. Each is looked at by itself, under Receipts.
    </p>
  );
  if (data.count === 0) {
    return (
      <div className={cls(styles.bulk)}>
        <p>None is open: each was redriven or dismissed.</p>
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
        {counted(data.count)} that nobody has redriven or dismissed. {WHOM}
      </p>
      {leftOut}
      {data.more && (
        <p role="alert">
          More are open than one job takes ({data.ceiling.toLocaleString('en')}): it takes none of them. Redrive by time
          on the command line: <code>npx carillon dead-letters redrive --all --since 1h</code>
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
              ? 'Some of them are dismissed, or receipts or refused changes: each is looked at by itself.'
              : 'Some of them belong to no workspace: each is redriven by itself.'}
          </Quiet>
        )}
      </ChosenBar>
      {asked !== null && (
        <JobDialog
          title="Redrive what is chosen"
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
