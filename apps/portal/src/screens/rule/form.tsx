import { useId, type ReactNode } from 'react';
import { Problem } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { cls } from '../../ui/class-names.ts';
import { CodeField } from '../../ui/code-field.tsx';
import type { Complete } from '../../ui/code-words.ts';
import { Id } from '../../ui/text.tsx';
import { mostSeen, shareWords, type SeenField } from './completion.ts';
import { DroppedChanges } from './dropped-changes.tsx';
import type { Condition } from './form-rows.ts';
import type { Check, FormChange } from './queries.ts';
import { ConditionRow } from './row.tsx';
import { useFormChanges } from './use-form-changes.ts';
import styles from './rule.module.css';

type Form = NonNullable<Check['form']>;
type Part = Form['conditions'][number];

export type FormViewProps = {
  readonly workspace: string;
  /** Which form it is, among all that a browser's tab edits. */
  readonly form: string;
  readonly source: string;
  readonly check: Check | undefined;
  readonly error: Error | null;
  readonly stream: string | undefined;
  readonly fields: readonly SeenField[];
  readonly complete: Complete;
  readonly onWrite: (source: string) => void;
};

const EMPTY: Form = { match: 'all', conditions: [] };

/**
 * The parts of an expression as lines. The server reads and writes them: a change of one line leaves every other part as it was typed,
 * and what no line can say stands as an expression in its place.
 */
export function ExpressionFormView(props: FormViewProps): ReactNode {
  const { workspace, form: name, source, check, error, stream, fields, complete, onWrite } = props;
  const listId = useId();
  const isBlank = source.trim() === '' || source.trim() === 'true';
  const form = isBlank ? EMPTY : (check?.form ?? null);
  const { fault, dropped, dismissDropped, apply } = useFormChanges({
    workspace,
    form: name,
    source,
    isRead: form !== null,
    onWrite,
  });

  if (form === null) {
    if (error) return <Problem error={error} />;
    if (!check) return <p role="status">Reading the condition …</p>;
    return (
      <CodeField
        label="Condition"
        note="It has a mistake: the form is here again once it is mended."
        language="cel"
        minLines={3}
        value={source}
        onChange={onWrite}
        faults={check.faults}
        complete={complete}
      />
    );
  }
  const first = fields.find(({ types, path }) => types.includes('string') && !path.includes('[]')) ?? fields[0];
  const fresh = {
    kind: 'compare',
    path: ['event', ...(first?.path ?? 'status').split('.')],
    op: '==',
    value: '',
  } as unknown as Condition;
  const { match, conditions } = form;
  const other = match === 'all' ? 'any' : 'all';
  return (
    <>
      <datalist id={listId}>
        {fields
          .filter(({ path }) => !path.includes('[]'))
          .map((field) => (
            <option key={field.path} value={`event.${field.path}`}>
              {shareWords(field, mostSeen(fields))}
            </option>
          ))}
      </datalist>
      <p>
        {conditions.length === 0 ? (
          <>
            Every event of <Id>{stream}</Id> fires this rule.
          </>
        ) : (
          <>
            An event of <Id>{stream}</Id> fires this rule when <b>{match}</b> of these hold.
          </>
        )}
      </p>
      <Lines
        conditions={conditions}
        match={match}
        at={[]}
        listId={listId}
        fields={fields}
        complete={complete}
        onChange={apply}
      />
      {dropped.length > 0 && <DroppedChanges dropped={dropped} onDismiss={dismissDropped} />}
      {fault !== null && (
        <p role="alert" className={cls(styles.fault)}>
          {fault}
        </p>
      )}
      <div className={cls(styles.tools)}>
        <Button onPress={() => apply({ kind: 'add', at: [], condition: fresh })}>Add a condition</Button>
        {conditions.length > 0 && conditions.at(-1)?.kind !== 'group' && (
          <Button onPress={() => apply({ kind: 'group', at: [conditions.length - 1], condition: fresh })}>
            Add an alternative to the last
          </Button>
        )}
        {conditions.length > 1 && (
          <Button kind="quiet" onPress={() => apply({ kind: 'match', at: [], match: other })}>
            Match {other} instead
          </Button>
        )}
      </div>
      <pre className={cls(styles.source)} tabIndex={0} role="group" aria-label="The same as an expression">
        {source === '' ? 'true' : source}
      </pre>
    </>
  );
}

type LinesProps = Pick<FormViewProps, 'fields' | 'complete'> & {
  readonly conditions: readonly Part[];
  readonly match: 'all' | 'any';
  /** Where the group of these lines stands; empty: it is the form itself. */
  readonly at: readonly number[];
  readonly listId: string;
  readonly onChange: (change: FormChange) => void;
};

function Lines({ conditions, match, at, ...rest }: LinesProps): ReactNode {
  const join = match === 'all' ? 'and' : 'or';
  return (
    <ol aria-label={at.length === 0 ? 'Conditions' : 'Conditions of the group'} className={cls(styles.lines)}>
      {conditions.map((part, place) => {
        const here = [...at, place];
        const word = place === 0 ? (at.length === 0 ? 'where' : '') : join;
        return (
          // A part has no name but its place.
          <li key={`${here.join()} ${part.kind}`} className={cls(styles.condition)}>
            <span className={cls(styles.join)}>{word}</span>
            {part.kind === 'group' ? (
              <Group part={part} at={here} {...rest} />
            ) : (
              <ConditionRow
                condition={part}
                what={`condition ${here.map((one) => one + 1).join('.')}`}
                listId={rest.listId}
                fields={rest.fields}
                complete={rest.complete}
                onReplace={(condition) => rest.onChange({ kind: 'replace', at: [...here], condition })}
                onRemove={() => rest.onChange({ kind: 'remove', at: [...here] })}
              />
            )}
          </li>
        );
      })}
    </ol>
  );
}

function Group({ part, at, ...rest }: Omit<LinesProps, 'conditions' | 'match'> & { readonly part: Part }): ReactNode {
  if (part.kind !== 'group') return null;
  const { match, conditions } = part as { readonly match: 'all' | 'any'; readonly conditions: readonly Part[] };
  const last = conditions.at(-1) as unknown as Condition;
  const fresh =
    last.kind === 'expression'
      ? ({ kind: 'compare', path: ['event', 'status'], op: '==', value: '' } as unknown as Condition)
      : ({ kind: 'compare', path: last.path, op: '==', value: '' } as unknown as Condition);
  const other = match === 'all' ? 'any' : 'all';
  return (
    <div className={cls(styles.group)}>
      <Lines conditions={conditions} match={match} at={at} {...rest} />
      <div className={cls(styles.tools)}>
        <Button kind="quiet" onPress={() => rest.onChange({ kind: 'add', at: [...at], condition: fresh })}>
          Add to this group
        </Button>
        <Button kind="quiet" onPress={() => rest.onChange({ kind: 'match', at: [...at], match: other })}>
          Match {other} of it instead
        </Button>
        <Button kind="quiet" onPress={() => rest.onChange({ kind: 'remove', at: [...at] })}>
          Remove the group
        </Button>
      </div>
    </div>
  );
}
