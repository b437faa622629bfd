import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, type ReactNode } from 'react';
import { api, bodyOf } from '../../api/client.ts';
import { reachStep } from '../../api/first-steps.ts';
import { Loading, Problem } from '../../ui/answers.tsx';
import { cls } from '../../ui/class-names.ts';
import { Panel } from '../../ui/split.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { Facts, Id } from '../../ui/text.tsx';
import { Time } from '../../ui/time.tsx';
import { useLetter } from '../../ui/use-letter.ts';
import { channelWords, linksIn, segmentWords, titleOf, type Message } from './message-words.ts';
import styles from './inbox.module.css';

/** The body of a mail alone, at an address that stays. */
const pageOf = ({ id }: Message): string => `/inbox/messages/${encodeURIComponent(id)}/html`;

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
  const workspace = data?.workspace;
  useEffect(() => {
    if (workspace !== undefined) reachStep(workspace, 'message');
  }, [workspace]);
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
              ['Received', <Time key="at" at={data.at} />],
              [
                'By itself',
                <a
                  key="alone"
                  href={data.html === null ? `/workspaces/${data.workspace}/inbox?open=${data.id}` : pageOf(data)}
                  target="_blank"
                  rel="noopener noreferrer"
                >
                  Open in a new window
                </a>,
              ],
              [
                'Why',
                <Link
                  key="why"
                  to="/workspaces/$w/deliveries"
                  params={{ w: data.workspace }}
                  search={{ open: data.delivery_id }}
                >
                  Story of this delivery
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
  const links = linksIn(message.html ?? '');
  const tabs =
    message.html === null
      ? []
      : [
          { id: 'html', name: 'HTML', content: <Mail message={message} /> },
          { id: 'phone', name: 'Phone', content: <Mail message={message} isNarrow /> },
          text,
          { id: 'source', name: 'Source', content: <Text text={message.html} what="Source of the HTML" /> },
          { id: 'links', name: `Links ${links.length}`, content: <Links links={links} /> },
        ];
  useLetter('h', () => tabs.length > 0 && onView('html'));
  useLetter('p', () => tabs.length > 0 && onView('phone'));
  useLetter('t', () => tabs.length > 0 && onView('text'));
  useLetter('s', () => tabs.length > 0 && onView('source'));
  if (tabs.length === 0) return text.content;
  return (
    <Tabs
      label="Body"
      tabs={tabs}
      chosen={tabs.some(({ id }) => id === view) ? (view ?? 'html') : 'html'}
      onChoose={onView}
    />
  );
}

/** The body of a mail in a frame of its own, as wide as there is room or as a phone. */
const Mail = ({ message, isNarrow = false }: { readonly message: Message; readonly isNarrow?: boolean }): ReactNode => (
  <iframe
    className={cls(styles.frame, isNarrow && styles.narrow)}
    // No script, no forms, an origin of its own: what a tenant's template does stays in there.
    sandbox=""
    referrerPolicy="no-referrer"
    src={pageOf(message)}
    title={`HTML body of: ${titleOf(message)}`}
  />
);

/** Named and not linked: a click would tell whoever is behind it that somebody looks. */
function Links({ links }: { readonly links: readonly string[] }): ReactNode {
  if (links.length === 0) return <p>This mail has no links.</p>;
  return (
    <ol className={cls(styles.links)}>
      {links.map((link) => (
        <li key={link}>
          <bdi>{link}</bdi>
        </li>
      ))}
    </ol>
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
          {/* Shown as text: loading the picture would report to its server that the message was read. */}
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
          ['Replaces', push.collapse],
          ['Android channel', push.android_channel],
          ['Sound on Apple devices', push.apns_sound],
        ]}
      />
      {fields.length > 0 && (
        <>
          <h3>Data for the mobile app</h3>
          <Facts facts={fields.map(([name, value]) => [name, <bdi key={name}>{value}</bdi>] as const)} />
        </>
      )}
    </>
  );
}
