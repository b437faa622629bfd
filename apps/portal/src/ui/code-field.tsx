import { Plus } from 'lucide-react';
import { lazy, useCallback, useId, useRef, type ReactNode } from 'react';
import { cls } from './class-names.ts';
import { variableAt, type Chosen, type CodeFault, type CodeFieldProps, type VariableTarget } from './code-words.ts';
import { Menu } from './menu.tsx';
import { Part } from './part.tsx';
import field from './field.module.css';
import { useLeft } from './held-fault.tsx';
import styles from './code-field.module.css';

const CodeEditor = lazy(() => import('./code-editor.tsx').then(({ CodeEditor: loaded }) => ({ default: loaded })));

const NONE: readonly CodeFault[] = [];

/** Text in a language: colours, choices at the caret, faults where they stand. Until the editor is loaded, and where it cannot be, it is a plain field. */
export function CodeField(props: CodeFieldProps): ReactNode {
  const { label, hidesLabel = false, note, value, onChange, isReadOnly = false, minLines = 1 } = props;
  const [isShown, leave] = useLeft();
  // Text is marked while it is typed, as in any editor; that a field is empty is no mistake before it was left.
  const faults = isShown || value.trim() !== '' ? (props.faults ?? NONE) : NONE;
  const { variables = [] } = props;
  const editor = useRef<VariableTarget | null>(null);
  const area = useRef<HTMLTextAreaElement | null>(null);
  const plainTarget: VariableTarget = {
    insert(path) {
      const { selectionStart: start = value.length, selectionEnd: end = value.length } = area.current ?? {};
      const change = variableAt(value.slice(0, start), value.slice(end), path);
      onChange(`${value.slice(0, change.from)}${change.insert}${value.slice(end)}`);
    },
    focus: () => area.current?.focus(),
  };
  const choose = (path: string): void => {
    const target = editor.current ?? plainTarget;
    target.insert(path);
    target.focus();
  };
  const id = useId();
  const [labelId, noteId] = [`${id}-label`, `${id}-note`];
  /** What was chosen in the plain field when the editor took its place, so that nobody who types is interrupted; null: it had no focus. */
  const chosen = useRef<Chosen | null>(null);
  // Read as it goes: no event tells of each place of the caret in time.
  const plainField = useCallback((element: HTMLTextAreaElement) => {
    area.current = element;
    return () => {
      area.current = null;
      if (document.activeElement !== element) return;
      chosen.current = { anchor: element.selectionStart, head: element.selectionEnd };
    };
  }, []);
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
    <div className={cls(field.field)} data-code-field={label} onBlur={leave}>
      <div className={cls(variables.length > 0 && styles.head)}>
        <span id={labelId} className={cls(hidesLabel ? styles.unseen : field.label)}>
          {label}
        </span>
        {variables.length > 0 && (
          <Menu
            label={`Insert a variable into ${label}`}
            trigger={
              <>
                <Plus size={14} aria-hidden />
                Variable
              </>
            }
            isSmall
            choices={variables.map(({ path, note: beside }) => ({
              id: path,
              name: path,
              ...(beside !== undefined && { note: beside }),
            }))}
            onChoose={choose}
          />
        )}
      </div>
      <Part loading={plain} failed={plain}>
        <CodeEditor {...props} faults={faults} labelId={labelId} noteId={noteId} chosen={chosen} target={editor} />
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
