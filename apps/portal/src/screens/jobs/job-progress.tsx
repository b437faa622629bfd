import { useMutation, useQueries } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { api, bodyOf, type Schemas } from '../../api/client.ts';
import { queryClient } from '../../api/query-client.ts';
import { Loading, Problem } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { cls } from '../../ui/class-names.ts';
import { Curl } from '../../ui/curl.tsx';
import type { Call } from '../../ui/curl-words.ts';
import { Sentence } from '../../ui/sentence.tsx';
import { beginEach, sumOfJobs, type Begun } from './by-workspace.ts';
import styles from './jobs.module.css';

type Job = Schemas['Job'];

/** In milliseconds. */
const POLLED_EVERY = 1_000;

/** The buttons of a dialog, the main one last. */
export const Foot = ({ children }: { readonly children: ReactNode }): ReactNode => (
  <div className={cls(styles.foot)}>{children}</div>
);

const END_WORDS: Readonly<Record<Job['state'], string>> = {
  waiting: 'Waiting to start',
  running: 'Under way',
  done: 'Done',
  cancelled: 'Stopped',
  failed: 'Failed',
};

const JOB = '/v1/workspaces/{workspace}/jobs/{id}';

export type Stopping = {
  /** The same for a shell. */
  readonly call: Call;
  /** `note`: what cannot be taken back. */
  readonly stop: () => Promise<Begun & { readonly note: string | null }>;
};

const cancelCall = ({ workspace, id }: Begun['jobs'][number]): Call => ({
  method: 'POST',
  path: `/v1/workspaces/${workspace}/jobs/${id}/cancel`,
  body: {},
});

async function cancelJobs(jobs: Begun['jobs']): Promise<null> {
  await Promise.all(
    jobs.map((path) => bodyOf(api.POST('/v1/workspaces/{workspace}/jobs/{id}/cancel', { params: { path }, body: {} }))),
  );
  return null;
}

/** Progress of jobs, one in each workspace. They continue when this is closed. Ended jobs of some kinds can be undone here. */
export function JobProgress({
  begun: started,
  changes,
  stopping,
  renderDone,
  onClose,
}: {
  readonly begun: Begun;
  /** The path of the lists that are old once it is over. */
  readonly changes: string;
  /** Stops the jobs in another way than by cancelling them. Resolves to the jobs that take back what they did. */
  readonly stopping?: Stopping;
  /** Links to what the jobs made. Shown once they are done. */
  readonly renderDone?: (close: () => void) => ReactNode;
  readonly onClose: () => void;
}): ReactNode {
  const [undo, setUndo] = useState<(Begun & { readonly note?: string | null }) | null>(null);
  const begun = undo ?? started;
  const asked = useQueries({
    queries: begun.jobs.map((path) => ({
      queryKey: [JOB, path.workspace, path.id],
      queryFn: ({ signal }: { readonly signal: AbortSignal }) => bodyOf(api.GET(JOB, { params: { path }, signal })),
      refetchInterval: ({ state }: { readonly state: { readonly data: Job | undefined } }) =>
        state.data && state.data.ended_at !== null ? (false as const) : POLLED_EVERY,
    })),
  });
  const jobs = asked.flatMap(({ data }) => (data === undefined ? [] : [data]));
  const running = begun.jobs.filter(({ id }) => jobs.some((job) => job.id === id && job.ended_at === null));
  const ownStop = undo ? undefined : stopping;
  const stop = useMutation({
    mutationFn: () => (ownStop ? ownStop.stop() : cancelJobs(running)),
    onSuccess: (taking) => taking && setUndo(taking),
    onSettled: () => queryClient.invalidateQueries({ queryKey: [JOB] }),
  });
  const undoable = begun.jobs.filter(({ id }) => jobs.some((job) => job.id === id && job.can_undo));
  const undoing = useMutation({
    mutationFn: () =>
      beginEach(undoable, (path) =>
        bodyOf(api.POST('/v1/workspaces/{workspace}/jobs/{id}/undo', { params: { path }, body: {} })),
      ),
    onSuccess: setUndo,
  });
  const close = (): void => {
    void queryClient.invalidateQueries({ queryKey: [changes] });
    onClose();
  };
  const error = stop.error ?? undoing.error ?? asked.find((one) => one.error !== null)?.error ?? null;
  if (jobs.length < begun.jobs.length) return error ? <Problem error={error} /> : <Loading what="the job" rows={2} />;
  const { state, isOver, of, done, failed } = sumOfJobs(jobs);
  const isStopped = jobs.some((job) => job.cancelled_by !== null);
  const failures = jobs.flatMap((job) => job.failures);
  return (
    <div className={cls(styles.job)}>
      <p role="status">
        {isStopped && !isOver
          ? 'Stopping after the current step'
          : undo && state === 'done'
            ? 'Undone'
            : END_WORDS[state]}
        : {done.toLocaleString('en')} of {of.toLocaleString('en')}
        {failed > 0 && `, ${failed.toLocaleString('en')} failed`}.
        {jobs.some((job) => job.cancelled_because === 'rights_lost') &&
          ' The person who started it lost the permission.'}
      </p>
      <progress aria-label="Progress" max={Math.max(1, of)} value={done + failed} />
      {state === 'done' && !undo && renderDone && <p>{renderDone(close)}</p>}
      {undo?.note && <p role="note">{undo.note}</p>}
      {begun.refused.map(({ workspace, why }) => (
        <p key={workspace} role="alert">
          Not started in {workspace}: <Sentence text={why} />
        </p>
      ))}
      {failures.length > 0 && (
        <ul aria-label="Failures" className={cls(styles.failures)} tabIndex={0}>
          {failures.map(({ item, detail }) => (
            <li key={item}>
              {item}: <Sentence text={detail} />
            </li>
          ))}
        </ul>
      )}
      {running.length + undoable.length > 0 && (
        <Curl
          calls={[
            ...(ownStop && running.length > 0 ? [ownStop.call] : running.map(cancelCall)),
            ...undoable.map(({ workspace, id }): Call => ({
              method: 'POST',
              path: `/v1/workspaces/${workspace}/jobs/${id}/undo`,
              body: {},
            })),
          ]}
        />
      )}
      {error && <Problem error={error} />}
      <Foot>
        {!isOver && (
          <Button isDisabled={stop.isPending || isStopped} onPress={() => stop.mutate()}>
            Stop
          </Button>
        )}
        {isOver && undoable.length > 0 && (
          <Button isDisabled={undoing.isPending} onPress={() => undoing.mutate()}>
            Undo
          </Button>
        )}
        <Button kind="main" onPress={close}>
          {isOver ? 'Close' : 'Close and continue in the background'}
        </Button>
      </Foot>
    </div>
  );
}
