import { useQuery } from '@tanstack/react-query';
import { useEffect, useState, type ReactNode } from 'react';
import { Problem } from '../../ui/answers.tsx';
import { cls } from '../../ui/class-names.ts';
import { Segments } from '../../ui/segments.tsx';
import { Facts } from '../../ui/text.tsx';
import { Checkbox } from '../../ui/toggle.tsx';
import { previewPage, previewQuery, type PreviewAsked, type Previewed } from './queries.ts';
import { smsWords } from './template-parts.ts';
import styles from './templates.module.css';

type Good = { readonly message: Previewed; readonly asked: PreviewAsked };

/**
 * The message of a reader, rendered by the server. While the draft has faults the server is not asked: the last good message stays, and the
 * fields say what is wrong.
 */
export function Preview({
  asked,
  isReady,
  hasFaults,
  onMessage,
}: {
  readonly asked: PreviewAsked;
  /** Whether the server has the text of the fields, and the event is known. */
  readonly isReady: boolean;
  /** Whether the saved draft has faults. The server cannot render such a draft. */
  readonly hasFaults: boolean;
  /** Told what came out, for the panel of variables. */
  readonly onMessage: (message: Previewed) => void;
}): ReactNode {
  const { data, error, refetch } = useQuery(previewQuery(asked, isReady && !hasFaults));
  const [good, setGood] = useState<Good | null>(null);
  const message = data?.message;
  // What was good last is kept while it is drawn, so that no drawing is without it.
  if (data && message?.ok === true && good?.message !== message) setGood({ message, asked: data.asked });
  useEffect(() => {
    if (message) onMessage(message);
  }, [message, onMessage]);
  const isOld = hasFaults || error !== null || (message !== undefined && !message.ok);
  const isOther = good !== null && good.asked.channel !== asked.channel;
  const shown = isOther ? null : good;
  return (
    <>
      {error && <Problem error={error} onRetry={() => void refetch()} />}
      {message && !message.ok && <p className={cls(styles.fault)}>Not sent: {message.error}</p>}
      {hasFaults && !shown && <p className={cls(styles.quiet)}>The preview appears when the text has no mistakes.</p>}
      {shown && (
        <div data-preview={isOld ? 'old' : 'new'} className={cls(styles.preview)}>
          {isOld && <p className={cls(styles.quiet)}>Last version without mistakes:</p>}
          <Shown good={shown} />
        </div>
      )}
    </>
  );
}

function Shown({ good: { message, asked } }: { readonly good: Good }): ReactNode {
  if (message.sms !== null) {
    return (
      <>
        <p data-segments className={cls(styles.segments)}>
          {smsWords(message.sms)}
        </p>
        <div role="group" aria-label="As a phone shows it" className={cls(styles.phone)}>
          <p className={cls(styles.bubble)}>{message.text}</p>
        </div>
      </>
    );
  }
  if (message.push !== null) return <Push push={message.push} />;
  return <Mail message={message} asked={asked} />;
}

function Push({ push }: { readonly push: NonNullable<Previewed['push']> }): ReactNode {
  return (
    <>
      <div role="group" aria-label="As a locked phone shows it" className={cls(styles.phone)}>
        <div className={cls(styles.card)}>
          {push.title !== null && (
            <strong>
              <bdi>{push.title}</bdi>
            </strong>
          )}
          {push.body !== null && <p>{push.body}</p>}
        </div>
      </div>
      <Facts
        facts={[
          ['Link', push.link],
          ['Picture', push.image],
          ['Priority', push.priority],
          ['Replacement key', push.collapse],
          ...Object.entries(push.data).map(([name, value]) => [`Field ${name}`, value] as const),
        ]}
      />
    </>
  );
}

const VIEWS = [
  { id: 'mail', name: 'Mail' },
  { id: 'text', name: 'Text' },
  { id: 'source', name: 'Source' },
] as const;
type View = (typeof VIEWS)[number]['id'];

function Mail({ message, asked }: { readonly message: Previewed; readonly asked: PreviewAsked }): ReactNode {
  const [view, setView] = useState<View>('mail');
  const [width, setWidth] = useState<'desktop' | 'phone'>('desktop');
  const [scheme, setScheme] = useState<'light' | 'dark'>('light');
  const [pictures, setPictures] = useState(true);
  const page = message.html === null ? null : previewPage(asked, pictures);
  const knowsDark = /prefers-color-scheme|color-scheme/i.test(message.html ?? '');
  return (
    <>
      <Facts
        facts={[
          ['From', message.from],
          ['Subject', <bdi key="subject">{message.subject}</bdi>],
          ['Unsubscribe', message.links?.unsubscribe],
        ]}
      />
      <div className={cls(styles.bar)}>
        <Segments label="View" options={VIEWS} chosen={view} onChoose={setView} />
        <Segments
          label="Width"
          options={[
            { id: 'desktop', name: 'Desktop' },
            { id: 'phone', name: 'Phone' },
          ]}
          chosen={width}
          onChoose={setWidth}
        />
        <Segments
          label="Mail program"
          options={[
            { id: 'light', name: 'Light' },
            { id: 'dark', name: 'Dark' },
          ]}
          chosen={scheme}
          onChoose={setScheme}
        />
        <Checkbox isOn={!pictures} onChange={(isOff) => setPictures(!isOff)}>
          Hide images
        </Checkbox>
      </div>
      {view === 'text' && <Pre text={message.text ?? ''} what="Text of the mail" />}
      {view === 'source' && <Pre text={message.html ?? message.text ?? ''} what="Source text of the mail" />}
      {view === 'mail' && page !== null && (
        <iframe
          className={cls(styles.frame, width === 'phone' && styles.narrow, scheme === 'dark' && styles.dark)}
          // No script, no forms, an origin of its own: what a template does stays in there.
          sandbox=""
          referrerPolicy="no-referrer"
          src={page}
          title={`Mail: ${message.subject ?? ''}`}
        />
      )}
      {view === 'mail' && message.html === null && <Pre text={message.text ?? ''} what="Text of the mail" />}
      {view === 'mail' && message.html !== null && page === null && (
        <p className={cls(styles.quiet)}>
          This event is too large for the preview. Choose a smaller one, or read the source.
        </p>
      )}
      {view === 'mail' && (
        <p className={cls(styles.quiet)}>
          The preview never loads pictures from other hosts, because they could track you.
          {scheme === 'dark' && !knowsDark && ' This mail has no dark colours, so mail programs may invert it.'}
        </p>
      )}
    </>
  );
}

const Pre = ({ text, what }: { readonly text: string; readonly what: string }): ReactNode => (
  <pre className={cls(styles.text)} tabIndex={0} role="group" aria-label={what}>
    {text === '' ? '(nothing)' : text}
  </pre>
);
