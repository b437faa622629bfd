import type { ReactNode } from 'react';
import { cls } from '../../ui/class-names.ts';
import { changeWords, valueLines, type FieldChange } from './change-words.ts';
import styles from './drafts.module.css';

/** Changed values with their field names. */
export function Fields({ fields }: { readonly fields: readonly FieldChange[] }): ReactNode {
  return (
    <ul aria-label="Changes" className={cls(styles.fields)}>
      {fields.map((field) => (
        <li key={field.path}>
          {changeWords(field)}
          <div className={cls(styles.values)}>
            {field.before !== null && <Values sign="−" text={field.before} />}
            {field.after !== null && <Values sign="+" text={field.after} />}
          </div>
        </li>
      ))}
    </ul>
  );
}

/** A value as it was or will be. */
function Values({ sign, text }: { readonly sign: '+' | '−'; readonly text: string }): ReactNode {
  return (
    <code className={cls(sign === '+' ? styles.now : styles.was)}>
      {valueLines(text)
        .map((line) => `${sign} ${line}`)
        .join('\n')}
    </code>
  );
}
