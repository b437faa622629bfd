import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { api, bodyOf } from '../../api/client.ts';
import { Loading, Problem } from '../../ui/answers.tsx';
import { cls } from '../../ui/class-names.ts';
import { Panel } from '../../ui/split.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { Facts, Id } from '../../ui/text.tsx';
import { Time } from '../../ui/time.tsx';
import { channelWords, segmentWords, titleOf, type Message } from './message-words.ts';
import styles from './inbox.module.css';

export type MessagePanelProps = {
  readonly id: string;
  /** Which of its bodies is shown; undefined: the first. */
  readonly view: string | undefined;
  readonly onView: (view: string) => void;
  readonly onClose: () => void;
};

/** A kept message as its reader would see it. */
export function MessagePanel({ id, view, onView, onClose }: MessagePanelProps): ReactNode {
  const { data, error, refetch } = useQuery({
    queryKey: ['/v1/inbox/{id}', id],
    queryFn: ({ signal }) => bodyOf(api.GET('/v1/inbox/{id}', { params: { path: { id } }, signal })),
    // A kept message never changes.
    staleTime: Infinity,
  });
  return (
    <Panel id={id} title={data ? <bdi>{titleOf(data)}</bdi> : <Id>{id}</Id>} onClose={onClose}>
      {error && <Problem error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Loading what="the message" />}
      {data && (
        <>
          <Facts
            facts={[
              ['Channel', channelWords(data.channel)],
              ['From', data.from === null ? null : <bdi key="from">{data.from}</bdi>],
              ['To', <bdi key="to">{data.to}</bdi>],
              ['Kept', <Time key="at" at={data.at} />],
              [
                'Why',
                <Link
                  key="why"
                  to="/workspaces/$w/deliveries"
                  params={{ w: data.workspace }}
                  search={{ open: data.delivery_id }}
                >
                  The story of this delivery
                </Link>,
              ],
            ]}
          />
          {data.push !== null ? <LockScreen push={data.push} /> : null}
          {data.sms !== null ? <Bubble message={data} sms={data.sms} /> : null}
          {data.push === null && data.sms === null && <Bodies message={data} view={view} onView={onView} />}
        </>
      )}
    </Panel>
  );
}

const Text = ({ text, what }: { readonly text: string; readonly what: string }): ReactNode => (
  <pre className={cls(styles.text)} tabIndex={0} role="group" aria-label={what}>
    {text}
  </pre>
);

function Bodies({
  message,
  view,
  onView,
}: {
  readonly message: Message;
  readonly view: string | undefined;
  readonly onView: (view: string) => void;
}): ReactNode {
  const text = { id: 'text', name: 'Text', content: <Text text={message.text || '(no text)'} what="Text" /> };
  if (message.html === null) return text.content;
  const tabs = [
    {
      id: 'html',
      name: 'HTML',
      content: (
        <iframe
          className={cls(styles.frame)}
          // No script, no forms, an origin of its own: what a tenant's template does stays in there.
          sandbox=""
          referrerPolicy="no-referrer"
          src={`/inbox/messages/${encodeURIComponent(message.id)}/html`}
          title={`HTML body of: ${titleOf(message)}`}
        />
      ),
    },
    text,
    { id: 'source', name: 'Source', content: <Text text={message.html} what="Source of the HTML" /> },
  ];
  return (
    <Tabs
      label="Body"
      tabs={tabs}
      chosen={tabs.some(({ id }) => id === view) ? (view ?? 'html') : 'html'}
      onChoose={onView}
    />
  );
}

/** The bubble that a phone shows, and what it costs. */
function Bubble({ message, sms }: { readonly message: Message; readonly sms: NonNullable<Message['sms']> }): ReactNode {
  return (
    <>
      <div role="group" aria-label="As a phone shows it" className={cls(styles.phone)}>
        <p className={cls(styles.bubble)}>{message.text}</p>
      </div>
      <p className={cls(styles.note)}>{segmentWords(sms)}</p>
    </>
  );
}

/** The card that a locked phone shows, and what only the app reads. */
function LockScreen({ push }: { readonly push: NonNullable<Message['push']> }): ReactNode {
  const fields = Object.entries(push.data);
  return (
    <>
      <div role="group" aria-label="As a locked phone shows it" className={cls(styles.phone)}>
        <div className={cls(styles.card)}>
          <p className={cls(styles.app)}>
            Your app <span>now</span>
          </p>
          {push.title !== null && (
            <strong>
              <bdi>{push.title}</bdi>
            </strong>
          )}
          {push.body !== null && <p>{push.body}</p>}
          {/* Named and never loaded: whoever looks at a kept message tells nobody that he does. */}
          {push.image !== null && <p className={cls(styles.note)}>picture: {push.image}</p>}
        </div>
      </div>
      <Facts
        facts={[
          [
            'A tap opens',
            push.link === null ? null : (
              <a key="link" href={push.link} target="_blank" rel="noopener noreferrer">
                {push.link}
              </a>
            ),
          ],
          ['Priority', push.priority],
          ['Takes the place of', push.collapse],
          ['Android channel', push.android_channel],
          ['Sound on Apple devices', push.apns_sound],
        ]}
      />
      {fields.length > 0 && (
        <>
          <h3>Fields for the app</h3>
          <Facts facts={fields.map(([name, value]) => [name, <bdi key={name}>{value}</bdi>] as const)} />
        </>
      )}
    </>
  );
}
