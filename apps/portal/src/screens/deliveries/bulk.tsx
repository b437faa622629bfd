import { useMutation, useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { api, bodyOf } from '../../api/client.ts';
import { useMay } from '../../api/me.ts';
import { Loading, Problem } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { cls } from '../../ui/class-names.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Field } from '../../ui/field.tsx';
import { stateWords } from '../../ui/state-words.ts';
import { filterOf, type DeliverySearch } from './delivery-search.ts';
import { Foot, JobProgress } from './job-progress.tsx';
import { DELIVERIES } from './queries.ts';
import styles from './deliveries.module.css';

/** `sent` and `failed`: what became of those in doubt. */
export type BulkAction = 'resend' | 'cancel' | 'sent' | 'failed';

const VERBS: Readonly<Record<BulkAction, string>> = {
  resend: 'Send again',
  cancel: 'Call off',
  sent: 'They were sent',
  failed: 'They were not sent',
};
const TITLES: Readonly<Record<BulkAction, string>> = {
  resend: 'Send again all that match',
  cancel: 'Call off all that match',
  sent: 'All that match were sent',
  failed: 'None that match was sent',
};
/** Why an action fits none of what matches. */
const NONE: Readonly<Record<BulkAction, string>> = {
  resend: 'can be sent again: only what failed, expired, was called off or is in doubt.',
  cancel: 'can be called off: only what still waits.',
  sent: 'is in doubt.',
  failed: 'is in doubt.',
};

/** From so many people on the number has to be typed. */
const TYPED_FROM = 10;

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
    <Dialog title={TITLES[action]} isOpen onClose={onClose}>
      {job === null ? (
        <Question workspace={workspace} search={search} action={action} onClose={onClose} onJob={setJob} />
      ) : (
        <JobProgress workspace={workspace} id={job} changes={DELIVERIES} onClose={onClose} />
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
  const [evidence, setEvidence] = useState('');
  // The server says of a word that it does not know which one was meant.
  const isEnd = action === 'sent' || action === 'failed';
  const decision = isEnd ? 'dismiss' : action;
  const query = { action: decision, ...filter } as unknown as { readonly action: typeof decision };
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
      if (isEnd) {
        const said = { ...body, as: action, reason: evidence.trim() || 'not said' };
        return bodyOf(api.POST('/v1/workspaces/{workspace}/deliveries/dismiss', { params, body: said as never }));
      }
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
        <p>None of what matches {NONE[action]}</p>
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
