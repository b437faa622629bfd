import { useQuery } from '@tanstack/react-query';
import { useMemo, useRef, type ReactNode } from 'react';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/page.tsx';
import { RadioGroup } from '../../ui/radio-group.tsx';
import { useSettled } from '../../ui/use-settled.ts';
import { completeExpression } from './completion.ts';
import { EventDeadline, SpanDeadline } from './deadlines.tsx';
import { ExpressionFormView, type Form } from './form.tsx';
import { pathText, type Condition } from './form-rows.ts';
import { NoEntity } from './no-entity.tsx';
import { oppositeOf } from './opposite.ts';
import { checkQuery } from './queries.ts';
import { textOf, type StateCardProps } from './rule-props.ts';
import { useTotalLines } from './use-total-lines.tsx';
import { decidedBy, wayOf, type WaitKeys, type WaitWay } from './wait-ways.ts';
import { Warnings } from './when.tsx';

const WAYS = [
  { id: 'now', name: 'Notify at once' },
  { id: 'after', name: 'Wait for a while after the event' },
  { id: 'at', name: 'Wait until a time in the event' },
] as const;
/** Ends the names of the lines, because *When* has lines too. */
const OF = ' of unless';

/** When a rule decides about an event that fits, and which later event of the same entity ends the wait. */
export function Then(props: StateCardProps): ReactNode {
  const { rule, entity, fields, change } = props;
  const way = wayOf(rule);
  // The keys of the ways that were left, so that a look at another way loses nothing.
  const left = useRef<WaitKeys>({});
  const choose = (next: WaitWay): void => {
    const { after, after_last: afterLast, at, if_past: ifPast, unless } = rule;
    const now: WaitKeys = {
      ...(after !== undefined && { after }),
      ...(afterLast !== undefined && { after_last: afterLast }),
      ...(at !== undefined && { at }),
      ...(ifPast !== undefined && { if_past: ifPast }),
      ...(unless !== undefined && { unless }),
    };
    left.current = { ...left.current, ...now };
    change((before) => decidedBy(before, next, left.current, fields));
  };
  return (
    <Card title="Then">
      <RadioGroup
        label="Effect of a matching event"
        options={WAYS}
        chosen={way}
        onChoose={choose}
        isDisabled={entity.off !== null && way === 'now'}
      />
      {entity.off !== null && <NoEntity {...props} off={entity.off} what="wait" isUsed={way !== 'now'} />}
      {way === 'after' && <SpanDeadline {...props} />}
      {way === 'at' && <EventDeadline {...props} />}
      {way !== 'now' && <Unless {...props} />}
    </Card>
  );
}

/** Conditions of which a later event ends the wait. */
function Unless(props: StateCardProps): ReactNode {
  const { draft, name, rule, entity, stream, fields, roots } = props;
  const { workspace } = draft;
  const { lines, write: writeRule } = useTotalLines(props);
  const source = textOf(rule.unless);
  const when = textOf(rule.when);
  const check = useQuery(checkQuery(workspace, useSettled(source, 0), 'unless', stream));
  const ofWhen = useQuery(checkQuery(workspace, when, 'when', stream));
  const complete = useMemo(() => completeExpression(fields, roots), [fields, roots]);
  const said = source.trim() === '' ? undefined : check.data;
  const form = ofWhen.data?.source === when ? ofWhen.data.form : null;
  const write = (text: string): void =>
    writeRule(({ unless: _before, ...before }) => (text.trim() === '' ? before : { ...before, unless: text }));
  const whose = entity.noun === '' ? 'of the same key' : `of the same ${entity.noun}`;
  return (
    <>
      <h3>Unless</h3>
      <ExpressionFormView
        workspace={workspace}
        form={`${workspace}/${draft.name}.${name}.unless`}
        source={source}
        place="unless"
        of={OF}
        firstField={form === null ? undefined : fieldOf(form)}
        renderIntro={({ match, conditions }) =>
          conditions.length === 0 ? (
            `Nothing ends the wait: it notifies in any case. Add a condition for a later event ${whose} that ends it.`
          ) : (
            <>
              A later event {whose} ends the wait, and nobody is notified, when <b>{match}</b> of these hold.
            </>
          )
        }
        tools={
          form !== null &&
          form.conditions.length > 0 && (
            <Button onPress={() => write(oppositeOf(when, form))}>Insert the opposite condition</Button>
          )
        }
        check={said}
        error={check.error}
        hasPrevious
        fields={fields}
        complete={complete}
        totals={lines}
        onWrite={write}
      />
      <Warnings check={said} source={source} onWrite={write} />
    </>
  );
}

/** The field of the first line, which a later event has too. */
function fieldOf({ conditions }: Form): string | undefined {
  const [first] = conditions;
  if (first === undefined || first.kind === 'group' || first.kind === 'expression') return undefined;
  return pathText((first as Exclude<Condition, { kind: 'expression' }>).path);
}
