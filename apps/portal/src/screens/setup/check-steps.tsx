import type { ReactNode } from 'react';
import { cls } from '../../ui/class-names.ts';
import { Sentence } from '../../ui/sentence.tsx';
import { Lamp } from '../../ui/state.tsx';
import { Code } from '../../ui/text.tsx';
import { counted } from '../drafts/change-words.ts';
import type { Checked } from './queries.ts';
import styles from './setup.module.css';

/** Name of a step that works, but that should be changed. */
const WARNING = 'warning';
/** What a step of a check is about, by its first words. */
const MEANT: readonly (readonly [begins: string, words: string])[] = [
  ['account', 'The kind of the account, which decides its channel.'],
  ['integration', 'The kind of the integration, and its URL.'],
  ['secret', 'Carillon finds the secret by its name.'],
  ['DKIM', 'Mails are signed, and the public key is in the DNS of the domain.'],
  ['resolve', 'Carillon finds the address of the server and may connect to it.'],
  ['connect', 'Carillon connects to the server, over the same network as messages.'],
  ['TLS', 'The connection is encrypted, and the certificate of the server is trusted.'],
  ['starttls', 'The connection is encrypted, and the certificate of the server is trusted.'],
  ['greeting', 'The server answers as a mail server does.'],
  ['sign in', 'The server accepts user and password, or the key. Nothing is sent.'],
  ['validate only', 'Firebase validates a message and sends it to nobody.'],
  ['inbox', 'Messages are kept here, for the inbox page.'],
  ['call with', 'The endpoint is called as a rule would call it.'],
  ['scheme', 'The word before the key that the endpoint accepts: Bearer or Basic.'],
  ['answer', 'Fields that a rule finds in the answer. Addresses are hidden.'],
  ['missing', 'An id that you named is not in the answer.'],
  ['server', 'The version that the database says it has.'],
  ['table', 'A table that a stream names, and whether its changes can be read.'],
  [WARNING, 'It works, but should be changed.'],
  ['cohorts', 'Reports of the platform so far.'],
  ['cohort', 'The first page of the cohort, read with this key and not stored.'],
];
const meantBy = (step: string): string | undefined =>
  MEANT.find(([begins]) => step.toLowerCase().startsWith(begins.toLowerCase()))?.[1];

/** `may not replicate` of the reason `may_not_replicate`. */
const nameOf = (step: string): string => step.replaceAll('_', ' ');

/** A check step by step; what failed stands open. */
export function CheckSteps({ steps }: { readonly steps: Checked }): ReactNode {
  const failing = steps.findIndex(({ ok }) => !ok);
  const warnings = steps.filter(({ step }) => step === WARNING).length;
  return (
    <div className={cls(styles.check)} role="group" aria-label="Steps of the check">
      <p role="status">
        {failing < 0 ? (
          <Lamp tone="good" name="check-good">
            {warnings === 0 ? `All ${steps.length} steps passed` : `It works, with ${counted(warnings, 'warning')}`}
          </Lamp>
        ) : (
          <Lamp tone="bad" name="check-bad">
            Failed step: {nameOf(steps[failing]?.step ?? '')}
          </Lamp>
        )}
      </p>
      <ol className={cls(styles.steps)}>
        {steps.map(({ step, ok, detail, fix = null }, index) => (
          // A new outcome opens what fails now, whatever was opened before.
          <li key={`${index} ${step} ${ok}`}>
            <details open={!ok || fix !== null}>
              <summary>
                <Lamp tone={!ok ? 'bad' : step === WARNING ? 'held' : 'good'}>{nameOf(step)}</Lamp>
              </summary>
              <p className={cls(styles.detail)}>
                <Sentence text={detail} />
              </p>
              {fix !== null && (
                <div className={cls(styles.fix)}>
                  <Code text={fix} what={`the fix of ${nameOf(step)}`} />
                </div>
              )}
              {meantBy(step) !== undefined && <p className={cls(styles.meant)}>{meantBy(step)}</p>}
            </details>
          </li>
        ))}
      </ol>
    </div>
  );
}
