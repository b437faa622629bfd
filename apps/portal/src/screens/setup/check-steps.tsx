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
  ['account', 'Which kind of account it is, and so which channel it carries.'],
  ['integration', 'Which kind it is, and where it is asked or sends to.'],
  ['secret', 'The password or key is kept as a secret of the workspace; here it is looked up by its name.'],
  ['DKIM', 'Mails are signed, and the domain shows the public half of the key in its DNS.'],
  ['resolve', 'The name of the server is looked up, and its address is one that may be used.'],
  ['connect', 'A connection to the server is opened, over the network that messages will take.'],
  ['TLS', 'The connection is encrypted, and the certificate of the server is one to trust.'],
  ['starttls', 'The connection is encrypted, and the certificate of the server is one to trust.'],
  ['greeting', 'The server answers as a mail server does.'],
  ['sign in', 'User and password, or the key, are taken. Nothing is sent.'],
  ['validate only', 'Firebase is handed a message that it validates and sends to nobody.'],
  ['inbox', 'Messages are kept here, for the inbox page.'],
  ['call with', 'The endpoint is called as a rule would call it.'],
  ['scheme', 'Which word before the key the endpoint takes: Bearer or Basic.'],
  ['answer', 'What a rule would find in the answer. No address is shown.'],
  ['missing', 'An id that you named is not in the answer.'],
  ['server', 'The version that the database says it has.'],
  ['table', 'A table that a stream names, and whether its changes can be read.'],
  [WARNING, 'It works, but should be changed.'],
  ['cohorts', 'What the platform has told so far.'],
  ['cohort', 'The first page of the cohort, with this key. Nothing of it is kept.'],
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
            {warnings === 0 ? `All ${steps.length} steps are good` : `It works, with ${counted(warnings, 'warning')}`}
          </Lamp>
        ) : (
          <Lamp tone="bad" name="check-bad">
            It fails at: {nameOf(steps[failing]?.step ?? '')}
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
                  <Code text={fix} what={`what mends ${nameOf(step)}`} />
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
