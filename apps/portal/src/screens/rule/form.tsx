import { lazy, Suspense, useId, useState, type ReactNode } from 'react';
import { Problem } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { cls } from '../../ui/class-names.ts';
import { CodeField } from '../../ui/code-field.tsx';
import type { Complete } from '../../ui/code-words.ts';
import { mostSeen, shareWords, type SeenField } from './completion.ts';
import type { Condition } from './form-rows.ts';
import type { ExpressionCheck, FormChange, Place } from './queries.ts';
import { ConditionRow, type ConditionRowProps } from './row.tsx';
import { useFormChanges } from './use-form-changes.ts';
import styles from './rule.module.css';

/** Comes when changes were dropped, which is rare. */
const DroppedChanges = lazy(async () => ({ default: (await import('./dropped-changes.tsx')).DroppedChanges }));

export type Form = NonNullable<ExpressionCheck['form']>;
type Part = Form['conditions'][number];

export type FormViewProps = {
  readonly workspace: string;
  /** Which form it is, among all that a browser's tab edits. */
  readonly form: string;
  readonly source: string;
  readonly place: Place;
  /** What follows the number of a line in the names of its fields, if the screen has two forms. */
  readonly of?: string;
  /** The sentence above the lines. */
  readonly renderIntro: (form: Form) => ReactNode;
  /** Further buttons beside "Add a condition". */
  readonly tools?: ReactNode;
  /** Field of a new line. Defaults to the first text of the event. */
  readonly firstField?: string | undefined;
  readonly check: ExpressionCheck | undefined;
  readonly error: Error | null;
  /** An event can be compared with the one before it. */
  readonly hasPrevious: boolean;
  readonly fields: readonly SeenField[];
  readonly complete: Complete;
  /** Undefined: the expression reads no totals. */
  readonly totals?: TotalLines;
  /** Defaults to "Add a condition". */
  readonly addLabel?: string;
  /** The form is a part of another one, which shows the expression. */
  readonly isNested?: boolean;
  readonly onWrite: (source: string) => void;
};

/** What a line about a total is drawn with. */
export type LineOfTotal = Pick<ConditionRowProps, 'what' | 'form' | 'isRefused' | 'onType' | 'onReplace' | 'onRemove'>;

/** Lines about totals of the rule, such as the number of events within ten minutes. */
export type TotalLines = {
  /** Why the rule cannot count. Null: it can. */
  readonly off: string | null;
  readonly isTotal: (condition: Condition) => boolean;
  /** Defines a total in the rule. Returns the condition that reads it. */
  readonly add: () => Condition;
  readonly render: (condition: Condition, line: LineOfTotal) => ReactNode;
};

const EMPTY: Form = { match: 'all', conditions: [] };

/**
 * Returns the form as it is drawn. While a line has the focus or a change waits, the lines stay as they are, so that nothing is replaced or
 * moved under the hands of the person who types. Another line that gets the focus is drawn anew once.
 */
function useSteadyForm(form: Form | null, typedAt: string | null, isBusy: boolean): Form | null {
  const [shown, setShown] = useState({ form, typedAt });
  const isHeld = isBusy || (typedAt !== null && shown.typedAt === typedAt);
  if (isHeld && shown.form !== null) return shown.form;
  if (shown.form !== form || shown.typedAt !== typedAt) setShown({ form, typedAt });
  return form;
}

/**
 * Edits an expression as lines. The server parses and writes it: editing one line leaves all other text unchanged, and
 * parts without a line form are edited as expressions.
 */
export function ExpressionFormView(props: FormViewProps): ReactNode {
  const { workspace, form: name, source, place, of = '', check, error, hasPrevious, fields, complete, totals } = props;
  const { onWrite } = props;
  const listId = useId();
  const isBlank = source.trim() === '' || source.trim() === 'true';
  const read = isBlank ? EMPTY : (check?.form ?? null);
  const isCurrent = isBlank || check === undefined || check.source === source;
  const [typedAt, setTypedAt] = useState<string | null>(null);
  const { fault, isWorking, dropped, dismissDropped, apply } = useFormChanges({
    workspace,
    form: name,
    source,
    place,
    isRead: read !== null,
    isTyping: typedAt !== null,
    onWrite,
  });
  const form = useSteadyForm(read, typedAt, isWorking || !isCurrent);

  if (form === null) {
    if (error) return <Problem error={error} />;
    if (!check) return <p role="status">Reading the condition …</p>;
    return (
      <CodeField
        label={`Condition${of}`}
        note="It has a mistake. The form returns when you correct it."
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
  const field = props.firstField?.split('.') ?? ['event', ...(first?.path ?? 'status').split('.')];
  const fresh = { kind: 'compare', path: field, op: '==', value: '' } as unknown as Condition;
  const { match, conditions } = form;
  const other = match === 'all' ? 'any' : 'all';
  return (
    <>
      <datalist id={listId}>
        {fields
          .filter(({ path }) => !path.includes('[]'))
          .map((seen) => (
            <option key={seen.path} value={`event.${seen.path}`}>
              {shareWords(seen, mostSeen(fields))}
            </option>
          ))}
      </datalist>
      <p>{props.renderIntro(form)}</p>
      <Lines
        conditions={conditions}
        match={match}
        at={[]}
        form={name}
        of={of}
        refusedAt={fault?.at ?? null}
        listId={listId}
        hasPrevious={hasPrevious}
        fields={fields}
        complete={complete}
        totals={totals}
        onType={setTypedAt}
        onChange={apply}
      />
      {dropped.length > 0 && (
        <Suspense fallback={null}>
          <DroppedChanges dropped={dropped} onDismiss={dismissDropped} />
        </Suspense>
      )}
      {fault !== null && typedAt === null && (
        <p role="alert" className={cls(styles.fault)}>
          {fault.why}
        </p>
      )}
      <div className={cls(styles.tools)}>
        <Button onPress={() => apply({ kind: 'add', at: [], condition: fresh })}>
          {props.addLabel ?? 'Add a condition'}
        </Button>
        {totals !== undefined && (
          <Button off={totals.off} onPress={() => apply({ kind: 'add', at: [], condition: totals.add() })}>
            Count events
          </Button>
        )}
        {props.tools}
        {conditions.length > 0 && conditions.at(-1)?.kind !== 'group' && (
          <Button onPress={() => apply({ kind: 'group', at: [conditions.length - 1], condition: fresh })}>
            Add: or …
          </Button>
        )}
        {conditions.length > 1 && (
          <Button kind="quiet" onPress={() => apply({ kind: 'match', at: [], match: other })}>
            Change to: {other} of these
          </Button>
        )}
      </div>
      {props.isNested !== true && (
        <pre className={cls(styles.source)} tabIndex={0} role="group" aria-label={`The same as an expression${of}`}>
          {source.trim() === '' ? 'No condition yet' : source}
        </pre>
      )}
    </>
  );
}

type LinesProps = Required<Pick<FormViewProps, 'of'>> &
  Pick<FormViewProps, 'form' | 'hasPrevious' | 'fields' | 'complete'> & {
    readonly totals: TotalLines | undefined;
    readonly conditions: readonly Part[];
    readonly match: 'all' | 'any';
    /** Where the group of these lines stands; empty: it is the form itself. */
    readonly at: readonly number[];
    readonly listId: string;
    /** The address of the line that the server refused; null: none. */
    readonly refusedAt: string | null;
    /** Called with the address of the line that gets the focus; null: the focus leaves it. */
    readonly onType: (at: string | null) => void;
    readonly onChange: (change: FormChange) => void;
  };

/** A line keeps its position and focus, whatever its condition becomes. */
const shapeOf = ({ kind }: Part, isTotal: boolean): string =>
  kind === 'group' || kind === 'expression' ? kind : isTotal ? 'total' : 'line';

function Lines({ conditions, match, at, ...rest }: LinesProps): ReactNode {
  const join = match === 'all' ? 'and' : 'or';
  return (
    <ol
      aria-label={`${at.length === 0 ? 'Conditions' : 'Conditions of the group'}${rest.of}`}
      className={cls(styles.lines)}
    >
      {conditions.map((part, place) => {
        const here = [...at, place];
        const word = place === 0 ? (at.length === 0 ? 'where' : '') : join;
        const isTotal = part.kind !== 'group' && rest.totals?.isTotal(part) === true;
        const line: LineOfTotal = {
          what: `condition ${here.map((one) => one + 1).join('.')}${rest.of}`,
          form: rest.form,
          isRefused: rest.refusedAt === here.join(),
          onType: (isTyping) => rest.onType(isTyping ? here.join() : null),
          onReplace: (condition) => rest.onChange({ kind: 'replace', at: [...here], condition }),
          onRemove: () => rest.onChange({ kind: 'remove', at: [...here] }),
        };
        return (
          // A part has no name but its place.
          <li key={`${here.join()} ${shapeOf(part, isTotal)}`} className={cls(styles.condition)}>
            <span className={cls(styles.join)}>{word}</span>
            {part.kind === 'group' ? (
              <Group part={part} at={here} {...rest} />
            ) : isTotal ? (
              rest.totals?.render(part, line)
            ) : (
              <ConditionRow
                {...line}
                condition={part}
                listId={rest.listId}
                hasPrevious={rest.hasPrevious}
                fields={rest.fields}
                complete={rest.complete}
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
          Change to: {other} of these
        </Button>
        <Button kind="quiet" onPress={() => rest.onChange({ kind: 'remove', at: [...at] })}>
          Remove the group
        </Button>
      </div>
    </div>
  );
}
