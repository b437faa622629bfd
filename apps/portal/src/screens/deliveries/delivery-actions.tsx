import { useMutation } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { api, bodyOf } from '../../api/client.ts';
import { useMay } from '../../api/me.ts';
import { queryClient } from '../../api/query-client.ts';
import { Problem } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { cls } from '../../ui/class-names.ts';
import { Curl } from '../../ui/curl.tsx';
import type { Call } from '../../ui/curl-words.ts';
import { Field } from '../../ui/field.tsx';
import { Actions } from '../../ui/page.tsx';
import { say } from '../../ui/notices.ts';
import { AskFirst } from '../../ui/ask-first.tsx';
import { useLetter } from '../../ui/use-letter.ts';
import { fits, VERBS } from './decisions.ts';
import { DELIVERIES, type Delivery } from './queries.ts';
import styles from './deliveries.module.css';

type Decision =
  | { readonly kind: 'resend' }
  | { readonly kind: 'cancel' }
  | { readonly kind: 'dismiss'; readonly as: 'sent' | 'failed' };

const SAID: Readonly<Record<Decision['kind'], string>> = {
  resend: 'The message is sent again.',
  cancel: 'The message is called off.',
  dismiss: 'The message is no longer in doubt.',
};

const verbOf = (decision: Decision): string =>
  decision.kind === 'dismiss' ? (decision.as === 'sent' ? 'Mark as sent' : 'Mark as not sent') : VERBS[decision.kind];

/** What a decision does, and to whom. */
function consequence(decision: Decision, { state, to }: Delivery): ReactNode {
  const whom = <bdi>{to ?? 'without an address'}</bdi>;
  if (decision.kind === 'cancel') return <>1 person is not notified: {whom}. The message can be sent again later.</>;
  if (decision.kind === 'resend') {
    return (
      <>
        The message goes to 1 person: {whom}.
        {state === 'IN_DOUBT' && ' If the first one arrived after all, they get it twice.'}
      </>
    );
  }
  return decision.as === 'sent' ? (
    <>The message is marked as sent: 1 person is not notified again, {whom}. This cannot be undone.</>
  ) : (
    <>The message is marked as failed: 1 person is not notified, {whom}. It can be sent again later.</>
  );
}

function decide({ workspace, id }: Delivery, decision: Decision, evidence: string) {
  const params = { path: { workspace, id } };
  switch (decision.kind) {
    case 'resend':
      return bodyOf(api.POST('/v1/workspaces/{workspace}/deliveries/{id}/resend', { params, body: {} }));
    case 'cancel':
      return bodyOf(api.POST('/v1/workspaces/{workspace}/deliveries/{id}/cancel', { params, body: {} }));
    case 'dismiss':
      return bodyOf(
        api.POST('/v1/workspaces/{workspace}/deliveries/{id}/dismiss', {
          params,
          body: { as: decision.as, reason: evidence.trim() || 'not said' },
        }),
      );
  }
}

/** Actions of an operator on one delivery. A refusal is shown at its button. */
export function DeliveryActions({
  delivery,
  isChoosing,
}: {
  readonly delivery: Delivery;
  /** Rows of the list are chosen: a letter of the keyboard is about those. */
  readonly isChoosing: boolean;
}): ReactNode {
  const [evidence, setEvidence] = useState('');
  const action = useMutation({
    mutationFn: (decision: Decision) => decide(delivery, decision, evidence),
    onSuccess: (_done, { kind }) => say(SAID[kind]),
    // Also of a refusal: what is shown may be what somebody else has changed.
    // The pages of a list stay as long as they are: its newest page, which is asked for again, changes the row.
    onSettled: () =>
      queryClient.invalidateQueries({
        queryKey: [DELIVERIES],
        predicate: ({ queryKey }) => queryKey.at(-1) !== 'list',
      }),
  });
  const { state } = delivery;
  const off = useMay('operate', delivery.workspace);
  const isDoubt = state === 'IN_DOUBT';
  const [asked, setAsked] = useState<{ readonly decision: Decision; readonly of: string } | null>(null);
  // What was asked of another state is no question any more.
  const question = asked?.of === state ? asked.decision : null;
  const ask = (decision: Decision): void => setAsked({ decision, of: state });
  const byKey = (decision: Decision) => (): void => {
    if (!isChoosing && isDoubt && off === null && !action.isPending) ask(decision);
  };
  useLetter('1', byKey({ kind: 'dismiss', as: 'sent' }));
  useLetter('2', byKey({ kind: 'dismiss', as: 'failed' }));
  useLetter('3', byKey({ kind: 'resend' }));
  useLetter('R', () => {
    if (!isChoosing && fits('resend', state) && off === null && !action.isPending) ask({ kind: 'resend' });
  });
  const press = (decision: Decision): ReactNode => (
    <Button off={off} isDisabled={action.isPending} onPress={() => ask(decision)}>
      {verbOf(decision)}
    </Button>
  );
  if (!fits('resend', state) && !fits('cancel', state)) return null;
  const call = (what: Decision['kind'], body: object = {}): Call => ({
    method: 'POST',
    path: `/v1/workspaces/${delivery.workspace}/deliveries/${delivery.id}/${what}`,
    body,
  });
  const said = { reason: evidence.trim() || 'not said' };
  const calls = fits('cancel', state)
    ? [call('cancel')]
    : [call('resend'), ...(isDoubt ? (['sent', 'failed'] as const).map((as) => call('dismiss', { as, ...said })) : [])];
  return (
    <>
      {action.error && <Problem error={action.error} />}
      {isDoubt && (
        <ol className={cls(styles.choices)}>
          <li>
            <kbd>1</kbd> <b>Mark as sent</b>: it arrived. Nobody is notified again.
          </li>
          <li>
            <kbd>2</kbd> <b>Mark as not sent</b>: it did not arrive. It counts as failed and can be sent again later.
          </li>
          <li>
            <kbd>3</kbd> <b>Send again</b>: if the first one arrived after all, its reader gets it twice.
          </li>
        </ol>
      )}
      {isDoubt && (
        <Field
          label="Evidence"
          note="How you know. The story of this delivery keeps it."
          placeholder="For example, the line in the provider’s log"
          maxLength={500}
          autoComplete="off"
          value={evidence}
          onChange={setEvidence}
        />
      )}
      <AskFirst
        asked={
          question && {
            verb: verbOf(question),
            about: consequence(question, delivery),
            isDanger: question.kind === 'cancel',
          }
        }
        isPending={action.isPending}
        onDo={() => {
          setAsked(null);
          if (question !== null) action.mutate(question);
        }}
        onLeave={() => setAsked(null)}
      >
        <Actions>
          {isDoubt && press({ kind: 'dismiss', as: 'sent' })}
          {isDoubt && press({ kind: 'dismiss', as: 'failed' })}
          {fits('resend', state) && press({ kind: 'resend' })}
          {fits('cancel', state) && press({ kind: 'cancel' })}
        </Actions>
      </AskFirst>
      <Curl calls={calls} />
    </>
  );
}
