import { structuredPatch } from 'diff';
import type { ReactNode } from 'react';
import { cls } from '../../ui/class-names.ts';
import { Unseen } from '../../ui/text.tsx';
import styles from './drafts.module.css';

export type ChangedFile = { readonly path: string; readonly before: string | null; readonly after: string | null };

/** Lines around a change that are shown with it. */
const AROUND = 3;
const SAID: Readonly<Record<string, string>> = { '+': 'added', '-': 'removed' };

/** A file as two versions have it, its changed lines alone with a few around them. */
export function FileDiff({ file }: { readonly file: ChangedFile }): ReactNode {
  const { hunks } = structuredPatch(file.path, file.path, file.before ?? '', file.after ?? '', '', '', {
    context: AROUND,
  });
  return (
    <details className={cls(styles.file)}>
      <summary>
        <code>{file.path}</code>
        {file.before === null && ' (new)'}
        {file.after === null && ' (goes)'}
      </summary>
      <pre tabIndex={0} role="group" aria-label={`Changed lines of ${file.path}`}>
        {hunks.map(({ oldStart, newStart, lines }) => (
          <span key={`${oldStart} ${newStart}`} className={cls(styles.hunk)}>
            {lines
              .filter((line) => !line.startsWith('\\'))
              .map((line, at) => {
                const sign = line.slice(0, 1);
                return (
                  <span
                    // The index is the only key of a line within its hunk.
                    key={at}
                    className={cls(styles.line, sign === '+' && styles.added, sign === '-' && styles.removed)}
                  >
                    {SAID[sign] !== undefined && <Unseen>{SAID[sign]}: </Unseen>}
                    {line}
                    {'\n'}
                  </span>
                );
              })}
          </span>
        ))}
      </pre>
    </details>
  );
}
