import { useMutation, useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { api, bodyOf, type Schemas } from '../../api/client.ts';
import { useMay } from '../../api/me.ts';
import { queryClient } from '../../api/query-client.ts';
import { Loading, Problem } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { cls } from '../../ui/class-names.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Field } from '../../ui/field.tsx';
import { stateWords } from '../../ui/state-words.ts';
import { filterOf, type DeliverySearch } from './delivery-search.ts';
import { DELIVERIES } from './queries.ts';
import styles from './deliveries.module.css';

export type BulkAction = 'resend' | 'cancel';
type Job = Schemas['Job'];

const VERBS: Readonly<Record<BulkAction, string>> = { resend: 'Send again', cancel: 'Call off' };

/** From so many people on the number has to be typed. */
const TYPED_FROM = 10;
/** In milliseconds. */
const POLLED_EVERY = 1_000;

export type BulkProps = {
  readonly workspace: string;
  readonly search: DeliverySearch;
  readonly action: BulkAction;
  readonly onClose: () => void;
};

const counted = (count: number, one: string, many: string): string =>
  `${count.toLocaleString('en')} ${count === 1 ? one : many}`;

/** Asks with the number of messages and people before anything happens, then shows how far it is. */
export function Bulk({ workspace, search, action, onClose }: BulkProps): ReactNode {
  const [job, setJob] = useState<string | null>(null);
  return (
    <Dialog title={`${VERBS[action]} all that match`} isOpen onClose={onClose}>
      {job === null ? (
        <Question workspace={workspace} search={search} action={action} onClose={onClose} onJob={setJob} />
      ) : (
        <Progress workspace={workspace} id={job} onClose={onClose} />
      )}
    </Dialog>
  );
}

function Question({
  workspace,
  search,
  action,
  onClose,
  onJob,
}: BulkProps & { readonly onJob: (id: string) => void }): ReactNode {
  const filter = filterOf(search);
  const off = useMay('operate', workspace);
  const [typed, setTyped] = useState('');
  // The server says of a word that it does not know which one was meant.
  const query = { action, ...filter } as unknown as { readonly action: BulkAction };
  const count = useQuery({
    queryKey: ['/v1/workspaces/{workspace}/deliveries/count', workspace, query],
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET('/v1/workspaces/{workspace}/deliveries/count', { params: { path: { workspace }, query }, signal }),
      ),
    staleTime: 0,
    gcTime: 0,
  });
  const start = useMutation({
    mutationFn: (expected: number) => {
      const { state, ...rest } = filter;
      const body = { filter: { ...rest, ...(state !== undefined && { state: [state] }) }, expected };
      const params = { path: { workspace } };
      return bodyOf(
        action === 'resend'
          ? api.POST('/v1/workspaces/{workspace}/deliveries/resend', { params, body: body as never })
          : api.POST('/v1/workspaces/{workspace}/deliveries/cancel', { params, body: body as never }),
      );
    },
    onSuccess: ({ id }) => onJob(id),
    onError: () => void count.refetch(),
  });
  const { data } = count;
  if (count.error) return <Problem error={count.error} onRetry={() => void count.refetch()} />;
  if (!data) return <Loading what="the count" rows={2} />;
  if (data.count === 0) {
    return (
      <>
        <p>
          None of what matches can be {action === 'resend' ? 'sent again' : 'called off'}:{' '}
          {action === 'resend' ? 'only what failed, expired, was called off or is in doubt.' : 'only what still waits.'}
        </p>
        <Foot>
          <Button onPress={onClose}>Close</Button>
        </Foot>
      </>
    );
  }
  const isTyped = data.people < TYPED_FROM || typed.replaceAll(/[,.\s]/g, '') === String(data.count);
  const go = (): void => {
    if (off === null && isTyped && !data.more && !start.isPending) start.mutate(data.count);
  };
  return (
    <form
      className={cls(styles.bulk)}
      onSubmit={(event) => {
        event.preventDefault();
        go();
      }}
    >
      <p>
        {counted(data.count, 'message', 'messages')} to {counted(data.people, 'person', 'people')}:{' '}
        {Object.entries(data.by_state)
          .map(([state, of]) => `${of?.toLocaleString('en') ?? 0} ${stateWords(state).toLowerCase()}`)
          .join(', ')}
        .
      </p>
      {(data.by_state['IN_DOUBT'] ?? 0) > 0 && action === 'resend' && (
        <p>Whoever got a message that is in doubt may be told twice.</p>
      )}
      {data.more && (
        <p role="alert">
          More match than one job takes ({data.ceiling.toLocaleString('en')}): narrow the filter down first.
        </p>
      )}
      {data.people >= TYPED_FROM && !data.more && (
        <Field
          label={`Type ${data.count} to go on`}
          value={typed}
          onChange={setTyped}
          autoComplete="off"
          inputMode="numeric"
        />
      )}
      {start.error && <Problem error={start.error} />}
      <Foot>
        <Button onPress={onClose}>Leave it</Button>
        <Button
          kind={action === 'resend' ? 'main' : 'danger'}
          off={off}
          isDisabled={!isTyped || data.more || start.isPending}
          onPress={go}
        >
          {VERBS[action]}: {counted(data.count, 'message', 'messages')}
        </Button>
      </Foot>
    </form>
  );
}

const Foot = ({ children }: { readonly children: ReactNode }): ReactNode => (
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
function Progress({
  workspace,
  id,
  onClose,
}: {
  readonly workspace: string;
  readonly id: string;
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
    void queryClient.invalidateQueries({ queryKey: [DELIVERIES] });
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
