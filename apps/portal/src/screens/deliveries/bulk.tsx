import { useMutation, useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { api, bodyOf, type Schemas } from '../../api/client.ts';
import { useMay } from '../../api/me.ts';
import { Loading, Problem } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { cls } from '../../ui/class-names.ts';
import { Curl } from '../../ui/curl.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field } from '../../ui/field.tsx';
import { stateWords } from '../../ui/state-words.ts';
import { VERBS, type BulkAction } from './decisions.ts';
import { filterOf, type DeliverySearch } from './delivery-search.ts';
import { Foot, JobProgress } from './job-progress.tsx';
import { DELIVERIES } from './queries.ts';
import styles from './deliveries.module.css';

const TITLES: Readonly<Record<BulkAction, readonly [ofAll: string, ofChosen: string]>> = {
  resend: ['Send again all that match', 'Send again what is chosen'],
  cancel: ['Call off all that match', 'Call off what is chosen'],
  sent: ['All that match were sent', 'All that are chosen were sent'],
  failed: ['None that match was sent', 'None that is chosen was sent'],
};
/** Why an action fits none of them. */
const NONE: Readonly<Record<BulkAction, string>> = {
  resend: 'can be sent again: only what failed, expired, was called off or is in doubt.',
  cancel: 'can be called off: only what still waits.',
  sent: 'is in doubt.',
  failed: 'is in doubt.',
};

/** From so many people on the number has to be typed. */
const TYPED_FROM = 10;

/** All that a filter shows, or those that were chosen one by one. */
export type Which = { readonly search: DeliverySearch } | { readonly ids: readonly string[] };

export type BulkProps = {
  readonly workspace: string;
  readonly which: Which;
  readonly action: BulkAction;
  /** `isBegun`: the job goes on, or has ended. */
  readonly onClose: (isBegun: boolean) => void;
};

type Decision = 'resend' | 'cancel' | 'dismiss';

/** The server says of a word of a filter that it does not know which one was meant. */
function countOf(workspace: string, action: Decision, which: Which, signal: AbortSignal): Promise<Counted> {
  const path = { workspace };
  if ('ids' in which) {
    const body = { action, ids: [...which.ids] };
    return bodyOf(api.POST('/v1/workspaces/{workspace}/deliveries/count', { params: { path }, body, signal }));
  }
  const query = { action, ...filterOf(which.search) } as unknown as { readonly action: Decision };
  return bodyOf(api.GET('/v1/workspaces/{workspace}/deliveries/count', { params: { path, query }, signal }));
}

type Counted = Schemas['DeliveryCount'] | Schemas['ChosenDeliveryCount'];

/** What the start of a job is sent: of those that are named the ones that were counted, or as many as were counted. */
function chosenBody(which: Which, counted: Counted): object {
  if ('ids' in which) return { ids: 'ids' in counted ? counted.ids : which.ids };
  const { state, ...rest } = filterOf(which.search);
  return { filter: { ...rest, ...(state !== undefined && { state: [state] }) }, expected: counted.count };
}

function begin(workspace: string, decision: Decision, said: object) {
  const given = { params: { path: { workspace } }, body: said as never };
  switch (decision) {
    case 'resend':
      return bodyOf(api.POST('/v1/workspaces/{workspace}/deliveries/resend', given));
    case 'cancel':
      return bodyOf(api.POST('/v1/workspaces/{workspace}/deliveries/cancel', given));
    case 'dismiss':
      return bodyOf(api.POST('/v1/workspaces/{workspace}/deliveries/dismiss', given));
  }
}

const counted = (count: number, one: string, many: string): string =>
  `${count.toLocaleString('en')} ${count === 1 ? one : many}`;

/** Asks with the number of messages and people before anything happens, then shows how far it is. */
export function Bulk({ workspace, which, action, onClose }: BulkProps): ReactNode {
  const [job, setJob] = useState<string | null>(null);
  const close = (): void => onClose(job !== null);
  return (
    <Dialog title={TITLES[action]['ids' in which ? 1 : 0]} isOpen onClose={close}>
      {job === null ? (
        <Question workspace={workspace} which={which} action={action} onClose={close} onJob={setJob} />
      ) : (
        <JobProgress workspace={workspace} id={job} changes={DELIVERIES} onClose={close} />
      )}
    </Dialog>
  );
}

type QuestionProps = Omit<BulkProps, 'onClose'> & {
  readonly onClose: () => void;
  readonly onJob: (id: string) => void;
};

function Question({ workspace, which, action, onClose, onJob }: QuestionProps): ReactNode {
  const off = useMay('operate', workspace);
  const [typed, setTyped] = useState('');
  const [evidence, setEvidence] = useState('');
  const isEnd = action === 'sent' || action === 'failed';
  const decision = isEnd ? 'dismiss' : action;
  const count = useQuery({
    queryKey: ['/v1/workspaces/{workspace}/deliveries/count', workspace, decision, which],
    queryFn: ({ signal }) => countOf(workspace, decision, which, signal),
    staleTime: 0,
    gcTime: 0,
  });
  const bodyFor = (of: Counted): object => ({
    ...chosenBody(which, of),
    ...(isEnd && { as: action, reason: evidence.trim() || 'not said' }),
  });
  const start = useMutation({
    mutationFn: (of: Counted) => begin(workspace, decision, bodyFor(of)),
    onSuccess: ({ id }) => onJob(id),
    onError: () => void count.refetch(),
  });
  const { data } = count;
  const isChosen = 'ids' in which;
  if (count.error) return <Problem error={count.error} onRetry={() => void count.refetch()} />;
  if (!data) return <Loading what="the count" rows={2} />;
  if (data.count === 0) {
    return (
      <>
        <p>
          None of what {isChosen ? 'is chosen' : 'matches'} {NONE[action]}
        </p>
        <Foot>
          <Button onPress={onClose}>Close</Button>
        </Foot>
      </>
    );
  }
  const isTyped = data.people < TYPED_FROM || typed.replaceAll(/[,.\s]/g, '') === String(data.count);
  const go = (): void => {
    if (off === null && isTyped && !data.more && !start.isPending) start.mutate(data);
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
      {isChosen && data.count < which.ids.length && (
        <p>The others have changed since they were chosen: nothing is done with them.</p>
      )}
      {(data.by_state['IN_DOUBT'] ?? 0) > 0 && action === 'resend' && (
        <p>Whoever got a message that is in doubt may be told twice.</p>
      )}
      {isEnd && (
        <>
          <p>
            {action === 'sent'
              ? 'They end as sent, and nobody is told again.'
              : 'They end as failed, and can be sent again later.'}
          </p>
          <Field
            label="How you know"
            note="It stays in the story of each of them."
            placeholder="Line of the provider’s log"
            maxLength={500}
            autoComplete="off"
            value={evidence}
            onChange={setEvidence}
          />
        </>
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
      <Curl
        call={{
          method: 'POST',
          path: `/v1/workspaces/${workspace}/deliveries/${decision}`,
          body: bodyFor(data),
        }}
      />
      <Foot>
        <Button onPress={onClose}>Leave it</Button>
        <Button
          kind={action === 'cancel' ? 'danger' : 'main'}
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
