import { lazy, useCallback, useId, useRef, type ReactNode } from 'react';
import { cls } from './class-names.ts';
import type { CodeFault, CodeLanguage, Complete } from './code-words.ts';
import { Part } from './part.tsx';
import field from './field.module.css';
import styles from './code-field.module.css';

const CodeEditor = lazy(() => import('./code-editor.tsx').then(({ CodeEditor: loaded }) => ({ default: loaded })));

export type CodeFieldProps = {
  readonly label: string;
  readonly hidesLabel?: boolean;
  readonly note?: ReactNode;
  readonly language: CodeLanguage;
  readonly value: string;
  readonly onChange: (value: string) => void;
  /** They are underlined where they stand, and said below. */
  readonly faults?: readonly CodeFault[];
  /** What could stand at the caret. */
  readonly complete?: Complete;
  /** Ctrl or ⌘ and Enter. */
  readonly onRun?: () => void;
  readonly isReadOnly?: boolean;
  /** Takes no line break. */
  readonly isSingleLine?: boolean;
  /** So high is it at least, from 1 to 24. */
  readonly minLines?: number;
  readonly placeholder?: string;
  /** Takes the focus when it comes. */
  readonly hasFocus?: boolean;
};

/** Places in the text, from 0; of a caret both are the same. */
export type Chosen = { readonly anchor: number; readonly head: number };

/** Text in a language: colours, choices at the caret, faults where they stand. Until the editor is loaded, and where it cannot be, it is a plain field. */
export function CodeField(props: CodeFieldProps): ReactNode {
  const { label, hidesLabel = false, note, value, onChange, faults = [], isReadOnly = false, minLines = 1 } = props;
  const id = useId();
  const [labelId, noteId] = [`${id}-label`, `${id}-note`];
  /** What was chosen in the plain field when the editor took its place, so that nobody who types is interrupted; null: it had no focus. */
  const chosen = useRef<Chosen | null>(null);
  // Read as it goes: no event tells of each place of the caret in time.
  const plainField = useCallback(
    (area: HTMLTextAreaElement) => () => {
      if (document.activeElement === area) chosen.current = { anchor: area.selectionStart, head: area.selectionEnd };
    },
    [],
  );
  const plain = (
    <textarea
      ref={plainField}
      aria-labelledby={labelId}
      aria-describedby={noteId}
      className={cls(field.area, styles.plain)}
      rows={minLines}
      spellCheck={false}
      readOnly={isReadOnly}
      value={value}
      onChange={(event) => onChange(event.target.value)}
    />
  );
  return (
    <div className={cls(field.field)} data-code-field={label}>
      <span id={labelId} className={cls(hidesLabel ? styles.unseen : field.label)}>
        {label}
      </span>
      <Part loading={plain} failed={plain}>
        <CodeEditor {...props} labelId={labelId} noteId={noteId} chosen={chosen} />
      </Part>
      <div id={noteId}>
        {note !== undefined && <p className={cls(field.note)}>{note}</p>}
        {faults.map(({ line, column, message, fix }) => (
          <p key={`${line}:${column} ${message}`} className={cls(field.fault)}>
            {line > 1 && `Line ${line}: `}
            {message}
            {fix !== undefined && fix !== '' && <span className={cls(styles.fix)}> {fix}</span>}
          </p>
        ))}
      </div>
    </div>
  );
}
