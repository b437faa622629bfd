import { useMutation, useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { api, bodyOf } from '../../api/client.ts';
import { useMayInAll } from '../../api/me.ts';
import { Loading, Problem } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { cls } from '../../ui/class-names.ts';
import { Curl } from '../../ui/curl.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field } from '../../ui/field.tsx';
import { stateWords } from '../../ui/state-words.ts';
import { beginEach, peopleInWords, sumOfCounts, type Begun, type Group } from '../jobs/by-workspace.ts';
import { VERBS, type BulkAction } from './decisions.ts';
import { filterOf, type DeliverySearch } from './delivery-search.ts';
import { Foot, JobProgress } from '../jobs/job-progress.tsx';
import { DELIVERIES } from './queries.ts';
import styles from './deliveries.module.css';

const TITLES: Readonly<Record<BulkAction, readonly [ofAll: string, ofChosen: string]>> = {
  resend: ['Send all matching messages again', 'Send the chosen messages again'],
  cancel: ['Call off all matching messages', 'Call off the chosen messages'],
  sent: ['Mark all matching messages as sent', 'Mark the chosen messages as sent'],
  failed: ['Mark all matching messages as not sent', 'Mark the chosen messages as not sent'],
};
/** Why an action fits none of the messages. */
const NONE: Readonly<Record<BulkAction, string>> = {
  resend: 'can be sent again: only messages that failed, expired, were called off or are in doubt can.',
  cancel: 'can be called off: only waiting messages can.',
  sent: 'is in doubt.',
  failed: 'is in doubt.',
};

/** From so many people on the number has to be typed. */
const TYPED_FROM = 10;

/** All that a filter shows of a workspace, or those that were chosen one by one, of one or several. */
export type Which =
  | { readonly search: DeliverySearch; readonly workspace: string }
  | { readonly groups: readonly Group[] };

export type BulkProps = {
  readonly which: Which;
  readonly action: BulkAction;
  /** `isBegun`: the job goes on, or has ended. */
  readonly onClose: (isBegun: boolean) => void;
};

type Decision = 'resend' | 'cancel' | 'dismiss';

/** What was counted, and what the start of a job is sent in each workspace. */
type Counted = ReturnType<typeof sumOfCounts> & {
  readonly starts: readonly { readonly workspace: string; readonly said: object }[];
};

async function countOf(action: Decision, which: Which, signal: AbortSignal): Promise<Counted> {
  if ('groups' in which) {
    const counts = await Promise.all(
      which.groups.map(async ({ workspace, ids }) => {
        const body = { action, ids: [...ids] };
        const params = { path: { workspace } };
        const own = await bodyOf(api.POST('/v1/workspaces/{workspace}/deliveries/count', { params, body, signal }));
        return { ...own, workspace };
      }),
    );
    const fitting = counts.filter(({ count }) => count > 0);
    return { ...sumOfCounts(counts), starts: fitting.map(({ workspace, ids }) => ({ workspace, said: { ids } })) };
  }
  const { workspace, search } = which;
  const { state, ...rest } = filterOf(search);
  // The server says of a word of a filter that it does not know which one was meant.
  const query = { action, ...filterOf(search) } as unknown as { readonly action: Decision };
  const own = await bodyOf(
    api.GET('/v1/workspaces/{workspace}/deliveries/count', { params: { path: { workspace }, query }, signal }),
  );
  const said = { filter: { ...rest, ...(state !== undefined && { state: [state] }) }, expected: own.count };
  return { ...sumOfCounts([own]), starts: [{ workspace, said }] };
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
export function Bulk({ which, action, onClose }: BulkProps): ReactNode {
  const [job, setJob] = useState<Begun | null>(null);
  const close = (): void => onClose(job !== null);
  return (
    <Dialog title={TITLES[action]['groups' in which ? 1 : 0]} isOpen onClose={close}>
      {job === null ? (
        <Question which={which} action={action} onClose={close} onJob={setJob} />
      ) : (
        <JobProgress begun={job} changes={DELIVERIES} onClose={close} />
      )}
    </Dialog>
  );
}

type QuestionProps = Omit<BulkProps, 'onClose'> & {
  readonly onClose: () => void;
  readonly onJob: (begun: Begun) => void;
};

function Question({ which, action, onClose, onJob }: QuestionProps): ReactNode {
  const chosen = 'groups' in which ? which.groups : null;
  const off = useMayInAll('operate', 'groups' in which ? which.groups.map((one) => one.workspace) : [which.workspace]);
  const [typed, setTyped] = useState('');
  const [evidence, setEvidence] = useState('');
  const isEnd = action === 'sent' || action === 'failed';
  const decision = isEnd ? 'dismiss' : action;
  const count = useQuery({
    queryKey: ['/v1/workspaces/{workspace}/deliveries/count', decision, which],
    queryFn: ({ signal }) => countOf(decision, which, signal),
    staleTime: 0,
    gcTime: 0,
  });
  const bodyFor = (said: object): object => ({
    ...said,
    ...(isEnd && { as: action, reason: evidence.trim() || 'not said' }),
  });
  const start = useMutation({
    mutationFn: ({ starts }: Counted) =>
      beginEach(starts, ({ workspace, said }) => begin(workspace, decision, bodyFor(said))),
    onSuccess: onJob,
    onError: () => void count.refetch(),
  });
  const { data } = count;
  if (count.error) return <Problem error={count.error} onRetry={() => void count.refetch()} />;
  if (!data) return <Loading what="the count" rows={2} />;
  if (data.count === 0) {
    return (
      <>
        <p>
          None of the {chosen ? 'chosen' : 'matching'} messages {NONE[action]}
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
        {counted(data.count, 'message', 'messages')} to {peopleInWords(data.people, data.starts.length)}:{' '}
        {Object.entries(data.by_state)
          .map(([state, of]) => `${of?.toLocaleString('en') ?? 0} ${stateWords(state).toLowerCase()}`)
          .join(', ')}
        .
      </p>
      {chosen && data.count < chosen.reduce((sum, { ids }) => sum + ids.length, 0) && (
        <p>Messages that changed since you chose them are left out.</p>
      )}
      {(data.by_state['IN_DOUBT'] ?? 0) > 0 && action === 'resend' && (
        <p>A message in doubt may have arrived: its reader may then get it twice.</p>
      )}
      {isEnd && (
        <>
          <p>
            {action === 'sent'
              ? 'They are marked as sent and are not sent again.'
              : 'They are marked as failed and can be sent again later.'}
          </p>
          <Field
            label="Evidence"
            note="How you know. The story of each delivery keeps it."
            placeholder="For example, the line in the provider’s log"
            maxLength={500}
            autoComplete="off"
            value={evidence}
            onChange={setEvidence}
          />
        </>
      )}
      {data.more && (
        <p role="alert">
          One job takes at most {data.ceiling.toLocaleString('en')} messages, and more match. Narrow the filter first.
        </p>
      )}
      {data.people >= TYPED_FROM && !data.more && (
        <Field
          label={`Type ${data.count} to confirm`}
          value={typed}
          onChange={setTyped}
          autoComplete="off"
          inputMode="numeric"
        />
      )}
      {start.error && <Problem error={start.error} />}
      <Curl
        calls={data.starts.map(({ workspace, said }) => ({
          method: 'POST',
          path: `/v1/workspaces/${workspace}/deliveries/${decision}`,
          body: bodyFor(said),
        }))}
      />
      <Foot>
        <Button onPress={onClose}>Cancel</Button>
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
