import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Check, Circle } from 'lucide-react';
import { useEffect, useState, type ReactNode } from 'react';
import type { Schemas } from '../../api/client.ts';
import { reachStep } from '../../api/first-steps.ts';
import { useMay } from '../../api/me.ts';
import { queryClient } from '../../api/query-client.ts';
import { Problem } from '../../ui/answers.tsx';
import { Button, buttonClass } from '../../ui/button.tsx';
import { cls } from '../../ui/class-names.ts';
import { Curl } from '../../ui/curl.tsx';
import { Card } from '../../ui/page.tsx';
import { State } from '../../ui/state.tsx';
import { Code, Unseen } from '../../ui/text.tsx';
import { notificationsQuery, type NotificationResource } from '../notifications/queries.ts';
import { sampleQuery } from '../rule/queries.ts';
import { sendEvent, sendingCall } from '../streams/sending.ts';
import { progressWords, type Step } from './overview-words.ts';
import { firstEventQuery, keysQuery, messageQuery, outcomeQuery } from './queries.ts';
import styles from './overview.module.css';

const LOOKED = 'carillon-looked-around';

function hasLooked(): boolean {
  try {
    return localStorage.getItem(LOOKED) !== null;
  } catch {
    // A browser that keeps nothing would show this step for ever.
    return true;
  }
}

function keepLooked(): void {
  try {
    localStorage.setItem(LOOKED, 'yes');
  } catch {
    // Said above.
  }
}

const AWAITED = 'carillon-awaits-first-message';

/** Whether this tab showed the guide of a workspace before its first event, and its first message was not shown yet. */
function isAwaited(workspace: string): boolean {
  try {
    return sessionStorage.getItem(`${AWAITED} ${workspace}`) !== null;
  } catch {
    return false;
  }
}

function keepAwaited(workspace: string, isOpen: boolean): void {
  try {
    if (isOpen) sessionStorage.setItem(`${AWAITED} ${workspace}`, 'yes');
    else sessionStorage.removeItem(`${AWAITED} ${workspace}`);
  } catch {
    // The message is then shown only if the page stays open.
  }
}

/** The first rule that events come to, by its title; null: there is none. */
function firstRule(notifications: readonly NotificationResource[]): string | null {
  for (const { name, body } of notifications) {
    if (!(body.enabled ?? true)) continue;
    for (const [rule, { enabled, cohort }] of Object.entries(body.rules ?? {}))
      if ((enabled ?? true) && cohort === undefined) return `${name}.${rule}`;
  }
  return null;
}

/** The way from nothing to the first message. Each step acts; the guide goes once all are done. */
export function Guide({ workspace }: { readonly workspace: string }): ReactNode {
  const params = { w: workspace };
  const [looked, setLooked] = useState(hasLooked);
  // Id of the event whose message is shown: the event sent from this page, else the first event from another sender.
  const [sent, setSent] = useState<string | null>(null);
  const [isOver, setOver] = useState(false);
  const { data: notifications } = useQuery(notificationsQuery(workspace));
  const { data: keys } = useQuery(keysQuery(workspace));
  const { data: events } = useQuery(firstEventQuery(workspace));
  const hasNotification = (notifications?.items.length ?? 0) > 0;
  const hasKey = keys?.items.some(({ expired }) => !expired) ?? false;
  useEffect(() => {
    reachStep(workspace, 'came');
    if (hasNotification) reachStep(workspace, 'notification');
    if (hasKey) reachStep(workspace, 'key');
  }, [workspace, hasNotification, hasKey]);
  const newest = events?.items[0]?.id ?? null;
  useEffect(() => {
    if (events && newest === null) keepAwaited(workspace, true);
  }, [workspace, events, newest]);
  if (sent === null && newest !== null && !isOver && isAwaited(workspace)) setSent(newest);
  const { data: outcome } = useQuery({ ...outcomeQuery(workspace, sent ?? ''), enabled: sent !== null });
  if (!notifications || !keys || !events) return null;
  const steps: readonly Step[] = [
    { id: 'look', name: 'Look around', isDone: looked },
    { id: 'notification', name: 'A notification', isDone: hasNotification },
    { id: 'key', name: 'A key', isDone: hasKey },
    { id: 'event', name: 'An event', isDone: events.items.length > 0 },
  ];
  if (steps.every(({ isDone }) => isDone) && sent === null) return null;
  const rule = firstRule(notifications.items);
  const look = (): void => {
    keepLooked();
    setLooked(true);
  };
  const end = (): void => {
    keepAwaited(workspace, false);
    setOver(true);
    setSent(null);
  };
  const delivery = outcome?.items[0];
  const next = steps.find(({ isDone }) => !isDone)?.id;
  return (
    <Card title={delivery && isSent(delivery) ? 'Your first message was sent' : progressWords(steps)}>
      <ol className={cls(styles.steps)}>
        {steps.map(({ id, name, isDone }) => (
          <li key={id} data-done={isDone || undefined} aria-current={id === next ? 'step' : undefined}>
            {isDone ? <Check size={16} aria-hidden /> : <Circle size={16} aria-hidden />}
            <span>
              {name}
              <Unseen>{isDone ? ', done' : ', not done yet'}</Unseen>
            </span>
            {!isDone && id === 'look' && (
              <Link to="/workspaces/$w/inbox" params={params} onClick={look} className={buttonClass()}>
                See where messages arrive
              </Link>
            )}
            {!isDone && id === 'notification' && (
              <Link to="/workspaces/$w/notifications" params={params} className={buttonClass('main')}>
                Create a notification
              </Link>
            )}
            {!isDone && id === 'key' && (
              <Link
                to="/settings/identity/api-keys"
                search={{ workspace }}
                className={buttonClass(next === 'key' ? 'main' : 'plain')}
              >
                Request a key
              </Link>
            )}
            {id === 'event' && rule !== null && (!isDone || sent !== null) && (
              <SendNow workspace={workspace} rule={rule} isNext={next === 'event'} onSent={setSent} />
            )}
          </li>
        ))}
      </ol>
      {sent !== null && <Outcome workspace={workspace} event={sent} delivery={delivery} onEnd={end} />}
    </Card>
  );
}

/** Posts the smallest event that a rule fires on, as whoever presses. */
function SendNow({
  workspace,
  rule,
  isNext,
  onSent,
}: {
  readonly workspace: string;
  readonly rule: string;
  readonly isNext: boolean;
  readonly onSent: (event: string) => void;
}): ReactNode {
  const off = useMay('configure', workspace);
  const sample = useQuery(sampleQuery(workspace, rule, null));
  const send = useMutation({
    mutationFn: ({ stream, event }: { readonly stream: string; readonly event: string }) =>
      sendEvent(workspace, stream, event),
    onSuccess({ id }) {
      reachStep(workspace, 'event');
      onSent(id);
      void queryClient.invalidateQueries({ queryKey: firstEventQuery(workspace).queryKey });
    },
  });
  const { data } = sample;
  return (
    <>
      <Button
        kind={isNext ? 'main' : 'plain'}
        off={off}
        isDisabled={!data || send.isPending}
        onPress={() => data && send.mutate(data)}
      >
        Send it now
      </Button>
      {data && (
        <details className={cls(styles.event)}>
          <summary>What is sent</summary>
          <p>
            An event with only the fields that “{rule}” reads. It is sent to the stream {data.stream} in your name,
            without a key, and evaluated like any other event.
          </p>
          <Code text={data.event} what="the event" />
          <Curl call={sendingCall(workspace, data.stream, data.event)} />
        </details>
      )}
      {(send.error ?? sample.error) && <Problem error={(send.error ?? sample.error)!} />}
    </>
  );
}

type Delivery = Schemas['Delivery'];
const isSent = ({ state }: Delivery): boolean => state === 'SENT' || state === 'DELIVERED';

/** The message that came of the event, below the steps. */
function Outcome({
  workspace,
  event,
  delivery,
  onEnd,
}: {
  readonly workspace: string;
  readonly event: string;
  readonly delivery: Delivery | undefined;
  readonly onEnd: () => void;
}): ReactNode {
  const isOnItsWay = delivery !== undefined && isSent(delivery);
  useEffect(() => {
    if (isOnItsWay) reachStep(workspace, 'message');
  }, [workspace, isOnItsWay]);
  const message = useQuery({ ...messageQuery(workspace, delivery?.id ?? ''), enabled: delivery !== undefined });
  const parts = new Map((message.data?.parts ?? []).map(({ name, text }) => [name, text]));
  const story = (text: string): ReactNode => (
    <Link to="/workspaces/$w/events/$id" params={{ w: workspace, id: event }}>
      {' '}
      {text}{' '}
    </Link>
  );
  if (!delivery) {
    return (
      <p role="status">
        The event was accepted, and its message is on the way. If nothing shows here, read{' '}
        {story('the story of this event')}.
      </p>
    );
  }
  return (
    <section aria-label="Your message" className={cls(styles.message)}>
      <p role="status">
        <State state={delivery.state} words={delivery.state_words} /> to <bdi>{delivery.to ?? 'nobody'}</bdi>
      </p>
      {parts.has('subject') && <h3>{parts.get('subject')}</h3>}
      {parts.has('text') && (
        <pre tabIndex={0} role="group" aria-label="Text of the message">
          {parts.get('text')}
        </pre>
      )}
      <p className={cls(styles.links)}>
        <Link to="/workspaces/$w/deliveries" params={{ w: workspace }} search={{ open: delivery.id }}>
          Open the delivery
        </Link>
        <Link to="/workspaces/$w/inbox" params={{ w: workspace }}>
          Open the inbox
        </Link>{' '}
        {story('Story of the event')} <Button onPress={onEnd}>Done</Button>
      </p>
    </section>
  );
}
