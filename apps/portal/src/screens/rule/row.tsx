import { X } from 'lucide-react';
import { useState, type KeyboardEvent, type ReactNode } from 'react';
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
  rowOf,
  takesValue,
  TESTS,
  type Condition,
  type Row,
  type Test,
  type Written,
} from './form-rows.ts';
import styles from './rule.module.css';

export type ConditionRowProps = {
  readonly condition: Condition;
  /** Which one it is, for who cannot see where it stands. */
  readonly what: string;
  readonly listId: string;
  readonly fields: readonly SeenField[];
  readonly complete: Complete;
  readonly onReplace: (condition: Condition) => void;
  readonly onRemove: () => void;
};

const OPTIONS = (Object.keys(TESTS) as Test[]).map((id) => ({ id, name: TESTS[id] }));
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

/** Text of an expression, edited in place; it is written when it is left. */
function Chip({ condition, what, complete, onReplace }: ConditionRowProps): ReactNode {
  const source = condition.kind === 'expression' ? condition.source : '';
  const [text, setText] = useState(source);
  const [shown, setShown] = useState(source);
  if (shown !== source) {
    setShown(source);
    setText(source);
  }
  const write = (): void => {
    if (text.trim() !== '' && text !== source) onReplace({ kind: 'expression', source: text });
  };
  return (
    <div className={cls(styles.chip)} onBlur={write}>
      <CodeField
        label={`Expression, ${what}`}
        hidesLabel
        language="cel"
        isSingleLine
        value={text}
        onChange={setText}
        complete={complete}
        onRun={write}
      />
    </div>
  );
}

function Line({ given, what, listId, fields, onReplace }: ConditionRowProps & { readonly given: Row }): ReactNode {
  const [row, setRow] = useState(given);
  const [fault, setFault] = useState<Extract<Written, { ok: false }> | null>(null);
  const said = JSON.stringify(given);
  const [shown, setShown] = useState(said);
  // Another text of the expression, whoever wrote it, takes the place of what stood here; the focus stays.
  if (shown !== said) {
    setShown(said);
    setRow(given);
    setFault(null);
  }
  function write(next: Row): void {
    if (JSON.stringify(next) === said) return setFault(null);
    const written = conditionOf(next);
    setFault(written.ok ? null : written);
    if (written.ok) onReplace(written.condition);
  }
  const type = (change: Partial<Row>): void => setRow({ ...row, ...change });
  const enter = (event: KeyboardEvent): void => {
    if (event.key !== 'Enter' || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    write(row);
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
      {...(part === 'value' && { placeholder: sampleOf(row.field, fields) })}
      onChange={(event) => type(change(event.target.value))}
      onBlur={() => write(row)}
      onKeyDown={enter}
    />
  );
  const pick = (test: Test): void => {
    const next = { ...row, test, ...(!takesValue(test) && { value: '' }) };
    setRow(next);
    write(next);
  };
  return (
    <div className={cls(styles.row)}>
      {input('Field', 'field', row.field, (text) => ({ field: text }))}
      <NativeSelect label={`How ${what} compares`} hidesLabel options={OPTIONS} value={row.test} onChange={pick} />
      {row.test === 'some' && (
        <>
          {input('Field of an entry', 'entry', row.entry.field, (text) => ({ entry: { ...row.entry, field: text } }))}
          <NativeSelect
            label={`How the entry of ${what} compares`}
            hidesLabel
            options={ENTRY_OPTIONS}
            value={row.entry.test}
            onChange={(test) => {
              const next = { ...row, entry: { ...row.entry, test } };
              setRow(next);
              write(next);
            }}
          />
        </>
      )}
      {takesValue(row.test) && input('Value', 'value', row.value, (text) => ({ value: text }))}
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
