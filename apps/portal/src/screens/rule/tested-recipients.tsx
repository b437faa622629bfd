import type { ReactNode } from 'react';
import { cls } from '../../ui/class-names.ts';
import { Lamp } from '../../ui/state.tsx';
import { Id } from '../../ui/text.tsx';
import type { Tested } from './verdict.ts';
import styles from './rule.module.css';

type Recipient = Tested['recipients'][number];
type Message = Recipient['messages'][number];
/** Recipients of a rule that fires. */
type Firing = Pick<Tested, 'recipients' | 'dropped' | 'problems' | 'asks' | 'answered'>;

/** People that are shown with their messages; of the others the number. */
const MAX_SHOWN = 20;

/** Who would be told and what each would read, rendered as it would be sent. */
export function TestedRecipients({ tested }: { readonly tested: Firing }): ReactNode {
  const { recipients, dropped, problems, asks, answered } = tested;
  return (
    <>
      {asks !== null && (
        <p>
          Asks <Id>{asks.integration}</Id> about {asks.user_ids.join(', ') || 'nobody'}.
        </p>
      )}
      {asks !== null && answered !== null && (
        <p>
          <Id>{asks.integration}</Id> answered: {answered}.
        </p>
      )}
      {problems.length > 0 && <Lines label="Problems of the answer" lines={problems} />}
      {dropped.length > 0 && <Lines label="Dropped people" lines={dropped} />}
      {recipients.slice(0, MAX_SHOWN).map((recipient, at) => (
        <section
          key={`${at} ${recipient.person}`}
          className={cls(styles.person)}
          aria-label={`What ${addressOf(recipient)} would get`}
        >
          <h3>What {addressOf(recipient)} would get</h3>
          {recipient.already_told !== null && (
            <p>
              <Lamp tone="held">Notified already</Lamp> A message for <Id>{recipient.unique_id}</Id> exists already
              {recipient.notified_already ? ', so nothing more is sent.' : ' on another channel.'}
            </p>
          )}
          {recipient.messages.map((message) => (
            <MessageCard key={message.channel} message={message} />
          ))}
        </section>
      ))}
      {recipients.length > MAX_SHOWN && <p>And {recipients.length - MAX_SHOWN} more people.</p>}
    </>
  );
}

const addressOf = ({ to, person }: Recipient): string => Object.values(to).find((one) => one !== null) ?? person;

function Lines({ label, lines }: { readonly label: string; readonly lines: readonly string[] }): ReactNode {
  return (
    <ul aria-label={label} className={cls(styles.warnings)}>
      {[...new Set(lines)].map((line) => (
        <li key={line}>{line}</li>
      ))}
    </ul>
  );
}

function MessageCard({ message }: { readonly message: Message }): ReactNode {
  const { channel, ok, error, subject, from, text, html, sms, push, missing, notes } = message;
  return (
    <article className={cls(styles.message)}>
      <header>
        <b>{subject ?? push?.title ?? (channel === 'sms' ? 'SMS' : channel)}</b>
        {from !== null && <small>{from}</small>}
        {sms && (
          <small>
            {sms.units} units, {sms.segments} {sms.segments === 1 ? 'segment' : 'segments'}, {sms.encoding}
            {sms.first_outside_gsm !== null && `: because of “${sms.first_outside_gsm}”`}
          </small>
        )}
      </header>
      {!ok && <p className={cls(styles.fault)}>Not sent: {error}</p>}
      <pre tabIndex={0} role="group" aria-label={`Text of the ${channel}`}>
        {push?.body ?? text ?? (html === null ? '' : 'No text part. The preview of the template shows the HTML part.')}
      </pre>
      {missing.length > 0 && <p>Empty in the message, because the event has no value: {missing.join(', ')}</p>}
      {notes.map((note) => (
        <p key={note}>{note}</p>
      ))}
    </article>
  );
}
