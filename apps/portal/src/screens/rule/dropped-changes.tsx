import type { ReactNode } from 'react';
import { Button } from '../../ui/button.tsx';
import { cls } from '../../ui/class-names.ts';
import { Copy } from '../../ui/copy.tsx';
import { formChangeWords } from './form-change-words.ts';
import type { FormChange } from './queries.ts';
import styles from './rule.module.css';

/** A change that was not worked in, and why not, in a sentence. */
export type DroppedChange = { readonly change: FormChange; readonly why: string };

/** Shows edits that could not be applied, as text to copy, so that none is lost silently. */
export function DroppedChanges({
  dropped,
  onDismiss,
}: {
  readonly dropped: readonly DroppedChange[];
  readonly onDismiss: () => void;
}): ReactNode {
  const words = dropped.map(({ change }) => formChangeWords(change));
  const reasons = [...new Set(dropped.map(({ why }) => why))].join(' ');
  const what =
    dropped.length === 1 ? 'A change that you made before is' : `${dropped.length} changes that you made before are`;
  return (
    <div role="alert" className={cls(styles.warnings)}>
      <p>
        {what} not in the condition. {reasons}
      </p>
      <ul>
        {words.map((text, at) => (
          // The same may have been done twice.
          <li key={`${at} ${text}`}>
            <bdi>{text}</bdi>
          </li>
        ))}
      </ul>
      <div className={cls(styles.tools)}>
        <Copy text={words.join('\n')} what="what was dropped" />
        <Button kind="quiet" onPress={onDismiss}>
          Dismiss
        </Button>
      </div>
    </div>
  );
}
