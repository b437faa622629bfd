import { useMutation, useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { api, bodyOf, type Schemas } from '../../api/client.ts';
import { queryClient } from '../../api/query-client.ts';
import { Loading, Problem } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { cls } from '../../ui/class-names.ts';
import { Curl } from '../../ui/curl.tsx';
import styles from './deliveries.module.css';

type Job = Schemas['Job'];

/** In milliseconds. */
const POLLED_EVERY = 1_000;

/** The buttons of a dialog, the main one last. */
export const Foot = ({ children }: { readonly children: ReactNode }): ReactNode => (
  <div className={cls(styles.foot)}>{children}</div>
);

const END_WORDS: Readonly<Record<Job['state'], string>> = {
  waiting: 'It begins in a moment',
  running: 'Under way',
  done: 'Done',
  cancelled: 'Stopped',
  failed: 'Nothing of it could be done',
};

/** How far a job is. It goes on when this is closed. */
export function JobProgress({
  workspace,
  id,
  changes,
  onClose,
}: {
  readonly workspace: string;
  readonly id: string;
  /** The path of the lists that are old once it is over. */
  readonly changes: string;
  readonly onClose: () => void;
}): ReactNode {
  const params = { path: { workspace, id } };
  const queryKey = ['/v1/workspaces/{workspace}/jobs/{id}', workspace, id];
  const { data, error } = useQuery({
    queryKey,
    queryFn: ({ signal }) => bodyOf(api.GET('/v1/workspaces/{workspace}/jobs/{id}', { params, signal })),
    refetchInterval: ({ state }) => (state.data && state.data.ended_at !== null ? false : POLLED_EVERY),
  });
  const stop = useMutation({
    mutationFn: () => bodyOf(api.POST('/v1/workspaces/{workspace}/jobs/{id}/cancel', { params, body: {} })),
    onSettled: () => queryClient.invalidateQueries({ queryKey }),
  });
  const close = (): void => {
    void queryClient.invalidateQueries({ queryKey: [changes] });
    onClose();
  };
  if (!data) return error ? <Problem error={error} /> : <Loading what="the job" rows={2} />;
  const isOver = data.ended_at !== null;
  return (
    <div className={cls(styles.bulk)}>
      <p role="status">
        {data.cancelled_by !== null && !isOver ? 'It stops once what is under way is over' : END_WORDS[data.state]}:{' '}
        {data.done.toLocaleString('en')} of {data.of.toLocaleString('en')}
        {data.failed > 0 && `, ${data.failed.toLocaleString('en')} could not be`}.
        {data.cancelled_because === 'rights_lost' && ' Whoever began it may no longer do this.'}
      </p>
      <progress aria-label="How far it is" max={Math.max(1, data.of)} value={data.done + data.failed} />
      {data.failures.length > 0 && (
        <ul aria-label="What could not be done" className={cls(styles.failures)} tabIndex={0}>
          {data.failures.map(({ item, detail }) => (
            <li key={item}>
              {item}: {detail}
            </li>
          ))}
        </ul>
      )}
      {!isOver && <Curl call={{ method: 'POST', path: `/v1/workspaces/${workspace}/jobs/${id}/cancel`, body: {} }} />}
      {(stop.error ?? error) && <Problem error={(stop.error ?? error)!} />}
      <Foot>
        {!isOver && (
          <Button isDisabled={stop.isPending || data.cancelled_by !== null} onPress={() => stop.mutate()}>
            Stop
          </Button>
        )}
        <Button kind="main" onPress={close}>
          {isOver ? 'Close' : 'Close: it goes on'}
        </Button>
      </Foot>
    </div>
  );
}
