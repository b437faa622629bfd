import { useQuery } from '@tanstack/react-query';
import { useId, useMemo, useState, type ReactNode } from 'react';
import { faultText } from '../../faults/fault-text.ts';
import { Button } from '../../ui/button.tsx';
import { cls } from '../../ui/class-names.ts';
import { CodeField } from '../../ui/code-field.tsx';
import field from '../../ui/field.module.css';
import { NativeSelect } from '../../ui/native-select.tsx';
import { useSettled } from '../../ui/use-settled.ts';
import { completeExpression } from './completion.ts';
import { deadlineText, readDeadline, type DeadlineForm } from './deadline-form.ts';
import { checkQuery } from './queries.ts';
import { textOf, type StateCardProps } from './rule-props.ts';
import { SpanField } from './span-field.tsx';
import { readSpan, spanText } from './spans.ts';
import { timeFields } from './wait-ways.ts';
import { Warnings } from './when.tsx';
import styles from './rule.module.css';

const FIRST_OR_LAST = [
  { id: 'after', name: 'the first' },
  { id: 'after_last', name: 'the last' },
] as const;
const SIDES = [
  { id: 'before', name: 'before' },
  { id: 'after', name: 'after' },
] as const;
const IF_PAST = [
  { id: 'skip', name: 'do not notify' },
  { id: 'notify', name: 'notify at once' },
] as const;
/** In milliseconds. */
const PAUSE = 250;

/** Waits so long after the first or the last event that fits. */
export function SpanDeadline({ draft, name, rule, change }: StateCardProps): ReactNode {
  const key = rule.after === undefined ? 'after_last' : 'after';
  const span = textOf(rule[key]);
  const faults = draft.faultsAt(`rules.${name}.${key}`);
  const write = (next: 'after' | 'after_last', text: string): void =>
    change(({ after: _after, after_last: _last, ...before }) => ({ ...before, [next]: text }));
  return (
    <div className={cls(styles.sentence)}>
      <span>Wait</span>
      <SpanField
        what="of the wait"
        span={readSpan(span)}
        isWrong={faults.length > 0}
        onChange={(next) => write(key, spanText(next))}
      />
      <span>after</span>
      <NativeSelect
        label="Event that starts the wait"
        hidesLabel
        options={FIRST_OR_LAST}
        value={key}
        onChange={(next) => write(next, span)}
      />
      <span>such event.</span>
      <Faults faults={faults} />
    </div>
  );
}

/** Waits until a time of the event, or so long before or after it. */
export function EventDeadline(props: StateCardProps): ReactNode {
  const { draft, name, rule, stream, fields, roots, change } = props;
  const source = textOf(rule.at);
  const form = readDeadline(source);
  const [isText, setText] = useState(false);
  const asked = useSettled(source, PAUSE);
  const check = useQuery(checkQuery(draft.workspace, asked, 'at', stream)).data;
  const complete = useMemo(() => completeExpression(fields, roots), [fields, roots]);
  const write = (text: string): void => change((before) => ({ ...before, at: text }));
  const known = check?.source === source ? check : undefined;
  const faults = known?.faults ?? [];
  return (
    <>
      {form === null || isText ? (
        <CodeField
          label="Time"
          note="A time with its zone in the event, or an expression that computes one."
          language="cel"
          isSingleLine
          value={source}
          onChange={write}
          complete={complete}
          faults={faults}
        />
      ) : (
        <EventTime {...props} form={form} isWrong={faults.length > 0} onWrite={(next) => write(deadlineText(next))} />
      )}
      <div className={cls(styles.sentence)}>
        <span>If this time has passed,</span>
        <NativeSelect
          label="Action if this time has passed"
          hidesLabel
          options={IF_PAST}
          value={rule.if_past ?? 'skip'}
          onChange={(next) =>
            change(({ if_past: _before, ...before }) => (next === 'skip' ? before : { ...before, if_past: next }))
          }
        />
        {form !== null && (
          <Button kind="quiet" onPress={() => setText(!isText)}>
            {isText ? 'As a form' : 'As an expression'}
          </Button>
        )}
      </div>
      {(form !== null && !isText ? faults : []).map((fault) => (
        <Faults key={fault.message} faults={[fault]} />
      ))}
      <Faults faults={draft.faultsAt(`rules.${name}.if_past`)} />
      <Warnings check={known} source={source} onWrite={write} />
    </>
  );
}

function EventTime({
  form,
  fields,
  isWrong,
  onWrite,
}: Pick<StateCardProps, 'fields'> & {
  readonly form: DeadlineForm;
  readonly isWrong: boolean;
  readonly onWrite: (form: DeadlineForm) => void;
}): ReactNode {
  const listId = useId();
  return (
    <div className={cls(styles.sentence)}>
      <datalist id={listId}>
        {timeFields(fields).map((path) => (
          <option key={path} value={path} />
        ))}
      </datalist>
      <span>Wait until</span>
      <SpanField what="before or after the time" span={form} isWrong={isWrong} onChange={onWrite} />
      <NativeSelect
        label="Before or after the time"
        hidesLabel
        options={SIDES}
        value={form.side}
        onChange={(side) => onWrite({ ...form, side })}
      />
      <input
        className={cls(field.input, field.mono, styles.path)}
        aria-label="Field with the time"
        aria-invalid={isWrong}
        data-invalid={isWrong ? '' : undefined}
        list={listId}
        autoComplete="off"
        spellCheck={false}
        value={form.field}
        onChange={(event) => onWrite({ ...form, field: event.target.value })}
      />
    </div>
  );
}

/** What the server says about a field of the sentence. */
export function Faults({
  faults,
}: {
  readonly faults: readonly { readonly message: string; readonly fix: string }[];
}): ReactNode {
  return faults.map((fault) => (
    <p key={fault.message} role="alert" className={cls(styles.fault)}>
      {faultText(fault)}
    </p>
  ));
}
