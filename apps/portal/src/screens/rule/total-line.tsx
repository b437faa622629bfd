import { useQuery } from '@tanstack/react-query';
import { X } from 'lucide-react';
import { useId, useMemo, useState, type ReactNode } from 'react';
import { useUnsaved } from '../../api/unsaved.ts';
import { Button } from '../../ui/button.tsx';
import { cls } from '../../ui/class-names.ts';
import field from '../../ui/field.module.css';
import { NativeSelect } from '../../ui/native-select.tsx';
import { useSettled } from '../../ui/use-settled.ts';
import { completeExpression } from './completion.ts';
import { Faults } from './deadlines.tsx';
import { ExpressionFormView, type LineOfTotal } from './form.tsx';
import { COMPARED, readValue, TESTS, type Compared, type Condition } from './form-rows.ts';
import { checkQuery } from './queries.ts';
import type { StateCardProps } from './rule-props.ts';
import { SpanField } from './span-field.tsx';
import { FIRST_WINDOW, readTotal, totalBody, WINDOW_UNITS, type TotalBody, type TotalForm } from './totals.ts';
import styles from './rule.module.css';

const KINDS = [
  { id: 'count', name: 'number of events' },
  { id: 'sum', name: 'sum of' },
  { id: 'distinct', name: 'number of different' },
] as const;
const WINDOWS = [
  { id: 'last', name: 'the last' },
  { id: 'day', name: 'the calendar day' },
  { id: 'week', name: 'the calendar week' },
  { id: 'month', name: 'the calendar month' },
] as const;
const TEST_OPTIONS = COMPARED.map((id) => ({ id, name: TESTS[id] }));
/** Types of values that a sum adds, or that `distinct` tells apart. */
const TYPES = { sum: ['number'], distinct: ['string', 'number', 'boolean'] } as const;

type Compare = Condition & { readonly kind: 'compare' };

type TotalLineProps = StateCardProps &
  LineOfTotal & {
    readonly condition: Compare;
    /** Its name. */
    readonly total: string;
    readonly body: TotalBody;
    readonly onBody: (body: TotalBody) => void;
  };

/** Two lines of a form: a total over a span of time, how it is compared; and which events it looks at. */
export function TotalLine(props: TotalLineProps): ReactNode {
  const { draft, name, total, body, entity, what, onType, onRemove, onBody } = props;
  const form = readTotal(body);
  const { kind, window } = form;
  const write = (change: Partial<TotalForm>): void => onBody(totalBody({ ...form, ...change }));
  const path = `rules.${name}.totals.${total}`;
  const faults = ['within', 'sum', 'distinct'].flatMap((key) => draft.faultsAt(`${path}.${key}`));
  const beyond = draft.faultsAt(`rules.${name}`).filter(({ code }) => code === 'total_beyond_samples');
  const noun = entity.noun === '' ? 'key' : entity.noun;
  return (
    <>
      <div className={cls(styles.total)}>
        <div className={cls(styles.sentence)} onFocus={() => onType(true)} onBlur={() => onType(false)}>
          <NativeSelect
            label={`Total of ${what}`}
            hidesLabel
            options={KINDS}
            value={kind}
            onChange={(next) => write({ kind: next, of: next === 'count' ? '' : form.of || firstField(next, props) })}
          />
          {kind !== 'count' && <OfField {...props} kind={kind} of={form.of} onChange={(of) => write({ of })} />}
          <span>in</span>
          <NativeSelect
            label={`Window of ${what}`}
            hidesLabel
            options={WINDOWS}
            value={typeof window === 'string' ? window : 'last'}
            onChange={(next) => write({ window: next === 'last' ? FIRST_WINDOW : next })}
          />
          {typeof window !== 'string' && (
            <SpanField
              what={`of the window of ${what}`}
              span={window}
              units={WINDOW_UNITS}
              isWrong={draft.faultsAt(`${path}.within`).length > 0}
              onChange={(next) => write({ window: next })}
            />
          )}
          <Compared {...props} />
          <Faults faults={[...faults, ...beyond]} />
        </div>
        <Counted {...props} form={form} noun={noun} onWhere={(where) => write({ where })} />
        <p className={cls(styles.note)}>
          Each {noun} has its own total, which includes the event itself. A template shows it as{' '}
          <code>{`{{totals.${total}}}`}</code>.
        </p>
      </div>
      <Button kind="quiet" isIcon aria-label={`Remove ${what}`} onPress={onRemove}>
        <X size={16} aria-hidden />
      </Button>
    </>
  );
}

const firstField = (kind: 'sum' | 'distinct', { fields }: TotalLineProps): string => {
  const fits = fields.find(
    ({ types, path }) => !path.includes('[]') && types.some((type) => TYPES[kind].some((each) => each === type)),
  );
  return `event.${fits?.path ?? (kind === 'sum' ? 'amount' : 'country')}`;
};

/** The field that a sum adds, or of which different values are counted. */
function OfField({
  kind,
  of,
  fields,
  what,
  onChange,
}: TotalLineProps & {
  readonly kind: 'sum' | 'distinct';
  readonly of: string;
  readonly onChange: (of: string) => void;
}): ReactNode {
  const listId = useId();
  return (
    <>
      <datalist id={listId}>
        {fields
          .filter(
            ({ types, path }) =>
              !path.includes('[]') && types.some((type) => TYPES[kind].some((each) => each === type)),
          )
          .map(({ path }) => (
            <option key={path} value={`event.${path}`} />
          ))}
      </datalist>
      <input
        className={cls(field.input, field.mono, styles.path)}
        aria-label={`Field of the total of ${what}`}
        list={listId}
        autoComplete="off"
        spellCheck={false}
        value={of}
        onChange={(event) => onChange(event.target.value)}
      />
    </>
  );
}

/** How the total is compared, and with which number. */
function Compared({ condition, what, form, isRefused, onType, onReplace }: TotalLineProps): ReactNode {
  const given = String(condition.value);
  const [text, setText] = useState(given);
  const [shown, setShown] = useState(given);
  const [isLeft, setLeft] = useState(false);
  const number = readValue(text);
  const isNumber = typeof number === 'number';
  if (shown !== given) {
    setShown(given);
    if (isNumber && !isRefused) setText(given);
  }
  useUnsaved(form, !isNumber);
  const write = (change: { readonly op?: Compared; readonly value?: number }): void => {
    const { kind, path, op, value } = condition;
    onType(true);
    onReplace({ kind, path, op, value, ...change });
  };
  return (
    <>
      <NativeSelect
        label={`How ${what} compares`}
        hidesLabel
        options={TEST_OPTIONS}
        value={condition.op}
        onChange={(op) => write({ op })}
      />
      <input
        className={cls(field.input, styles.amount)}
        aria-label={`Value of ${what}`}
        aria-invalid={isLeft && !isNumber}
        data-invalid={isLeft && !isNumber ? '' : undefined}
        inputMode="decimal"
        autoComplete="off"
        value={text}
        onBlur={() => setLeft(true)}
        onChange={(event) => {
          setText(event.target.value);
          setLeft(false);
          const value = readValue(event.target.value);
          if (typeof value === 'number') write({ value });
        }}
      />
      {isLeft && !isNumber && (
        <p role="alert" className={cls(styles.fault)}>
          Enter a number.
        </p>
      )}
    </>
  );
}

/** Conditions of the events that the total looks at. */
function Counted({
  draft,
  name,
  total,
  form,
  noun,
  stream,
  fields,
  roots,
  what,
  onWhere,
}: Omit<TotalLineProps, 'form'> & {
  readonly form: TotalForm;
  readonly noun: string;
  readonly onWhere: (where: string) => void;
}): ReactNode {
  const { workspace } = draft;
  const { where } = form;
  const check = useQuery(checkQuery(workspace, useSettled(where, 0), 'total_condition', stream));
  const complete = useMemo(
    () =>
      completeExpression(
        fields,
        roots.filter((root) => root !== 'totals'),
      ),
    [fields, roots],
  );
  return (
    <ExpressionFormView
      workspace={workspace}
      form={`${workspace}/${draft.name}.${name}.totals.${total}`}
      source={where}
      place="total_condition"
      of={` of the total of ${what}`}
      addLabel={where.trim() === '' ? 'Count only some events' : 'Add a condition to the total'}
      isNested
      renderIntro={({ match, conditions }) =>
        conditions.length === 0 ? (
          `Every event of the same ${noun} counts.`
        ) : (
          <>
            An event of the same {noun} counts when <b>{match}</b> of these hold.
          </>
        )
      }
      check={where.trim() === '' ? undefined : check.data}
      error={check.error}
      hasPrevious
      fields={fields}
      complete={complete}
      onWrite={onWhere}
    />
  );
}
