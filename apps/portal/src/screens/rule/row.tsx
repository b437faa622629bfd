import { X } from 'lucide-react';
import { useState, type KeyboardEvent, type ReactNode } from 'react';
import { useUnsaved } from '../../api/unsaved.ts';
import { Button } from '../../ui/button.tsx';
import { cls } from '../../ui/class-names.ts';
import { CodeField } from '../../ui/code-field.tsx';
import type { Complete } from '../../ui/code-words.ts';
import { NativeSelect } from '../../ui/native-select.tsx';
import field from '../../ui/field.module.css';
import type { SeenField } from './completion.ts';
import {
  COMPARED,
  conditionOf,
  isOfChanges,
  rowOf,
  takesValue,
  TESTS,
  type Condition,
  type Row,
  type Test,
} from './form-rows.ts';
import styles from './rule.module.css';

export type ConditionRowProps = {
  readonly condition: Condition;
  /** Which one it is, for who cannot see where it stands. */
  readonly what: string;
  /** The form that the line belongs to. */
  readonly form: string;
  /** The server refused what was typed here: it stays, to be corrected. */
  readonly isRefused: boolean;
  readonly listId: string;
  /** An event can be compared with the one before it. */
  readonly hasPrevious: boolean;
  readonly fields: readonly SeenField[];
  readonly complete: Complete;
  /** Called when the focus comes into the fields of the line, and when it leaves them. */
  readonly onType: (isTyping: boolean) => void;
  /** Called at every key that makes another condition of the line. */
  readonly onReplace: (condition: Condition) => void;
  readonly onRemove: () => void;
};

const ALL_OPTIONS = (Object.keys(TESTS) as Test[]).map((id) => ({ id, name: TESTS[id] }));
const OPTIONS = ALL_OPTIONS.filter(({ id }) => !isOfChanges(id));
const ENTRY_OPTIONS = COMPARED.map((id) => ({ id, name: TESTS[id] }));

/** One line: a field, how it is compared, and with what; or the expression that no line can say. */
export function ConditionRow(props: ConditionRowProps): ReactNode {
  const { condition, what, onRemove } = props;
  const row = rowOf(condition);
  return (
    <>
      {row === null ? <Chip {...props} /> : <Line {...props} given={row} />}
      <Button kind="quiet" isIcon aria-label={`Remove ${what}`} onPress={onRemove}>
        <X size={16} aria-hidden />
      </Button>
    </>
  );
}

/** Text of an expression, edited in place. */
function Chip({ condition, what, isRefused, complete, onType, onReplace }: ConditionRowProps): ReactNode {
  const source = condition.kind === 'expression' ? condition.source : '';
  const [text, setText] = useState(source);
  const [shown, setShown] = useState(source);
  if (shown !== source) {
    setShown(source);
    if (!isRefused) setText(source);
  }
  const write = (next: string): void => {
    setText(next);
    onType(true);
    if (next.trim() !== '') onReplace({ kind: 'expression', source: next });
  };
  return (
    <div className={cls(styles.chip)} onFocus={() => onType(true)} onBlur={() => onType(false)}>
      <CodeField
        label={`Expression, ${what}`}
        hidesLabel
        language="cel"
        isSingleLine
        value={text}
        onChange={write}
        complete={complete}
      />
    </div>
  );
}

function Line(props: ConditionRowProps & { readonly given: Row }): ReactNode {
  const { given, what, form, isRefused, listId, hasPrevious, fields, onType, onReplace } = props;
  const [row, setRow] = useState(given);
  // Faults are shown when the user leaves the line, so that half a word is not reported.
  const [isLeft, setLeft] = useState(false);
  const givenText = JSON.stringify(given);
  const [shown, setShown] = useState(givenText);
  const written = conditionOf(row, hasPrevious);
  // A new version of the expression replaces the line's content, unless that content is unfinished or refused. The focus stays.
  if (shown !== givenText) {
    setShown(givenText);
    if (written.ok && !isRefused) setRow(given);
  }
  const isChanged = JSON.stringify(row) !== givenText;
  useUnsaved(form, isChanged && !written.ok);
  const fault = isLeft && isChanged && !written.ok ? written : null;
  const write = (change: Partial<Row>): void => {
    const next = { ...row, ...change };
    setRow(next);
    setLeft(false);
    onType(true);
    const condition = conditionOf(next, hasPrevious);
    if (condition.ok) onReplace(condition.condition);
  };
  const enter = (event: KeyboardEvent): void => {
    if (event.key !== 'Enter' || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    setLeft(true);
  };
  const input = (
    name: string,
    part: 'field' | 'value' | 'entry',
    value: string,
    change: (text: string) => Partial<Row>,
  ) => (
    <input
      className={cls(field.input, field.mono)}
      aria-label={`${name} of ${what}`}
      aria-invalid={fault?.part === part}
      data-invalid={fault?.part === part ? '' : undefined}
      autoComplete="off"
      spellCheck={false}
      value={value}
      {...(part === 'field' && { list: listId })}
      {...(part === 'value' && { placeholder: isOfChanges(row.test) ? 'anything' : sampleOf(row.field, fields) })}
      onChange={(event) => write(change(event.target.value))}
      onKeyDown={enter}
    />
  );
  const valueInput = input('Value', 'value', row.value, (text) => ({ value: text }));
  const pick = (test: Test): void =>
    write({ test, ...(!takesValue(test) && { value: '' }), ...(!isOfChanges(test) && { from: '' }) });
  const options = hasPrevious || isOfChanges(row.test) ? ALL_OPTIONS : OPTIONS;
  const leave = (): void => {
    setLeft(true);
    onType(false);
  };
  return (
    <div className={cls(styles.row)} onFocus={() => onType(true)} onBlur={leave}>
      {input('Field', 'field', row.field, (text) => ({ field: text }))}
      <NativeSelect label={`How ${what} compares`} hidesLabel options={options} value={row.test} onChange={pick} />
      {row.test === 'some' && (
        <>
          {input('Field of an entry', 'entry', row.entry.field, (text) => ({ entry: { ...row.entry, field: text } }))}
          <NativeSelect
            label={`How the entry of ${what} compares`}
            hidesLabel
            options={ENTRY_OPTIONS}
            value={row.entry.test}
            onChange={(test) => write({ entry: { ...row.entry, test } })}
          />
        </>
      )}
      {isOfChanges(row.test) && (
        <>
          <span className={cls(styles.side)}>
            <span aria-hidden>from</span>
            {input('Value before', 'value', row.from, (text) => ({ from: text }))}
          </span>
          <span className={cls(styles.side)}>
            <span aria-hidden>to</span>
            {valueInput}
          </span>
        </>
      )}
      {takesValue(row.test) && !isOfChanges(row.test) && valueInput}
      {fault !== null && (
        <p role="alert" className={cls(styles.fault)}>
          {fault.fault}
        </p>
      )}
    </div>
  );
}

/** The newest value that a field was seen to have. */
const sampleOf = (path: string, fields: readonly SeenField[]): string => {
  const sample = fields.find((one) => `event.${one.path}` === path)?.sample;
  return typeof sample === 'string' ? sample.replaceAll(/^"|"$/g, '') : '';
};
