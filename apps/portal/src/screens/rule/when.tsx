import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { lazy, Suspense, useMemo, type ReactNode } from 'react';
import { Button } from '../../ui/button.tsx';
import { cls } from '../../ui/class-names.ts';
import { CodeField } from '../../ui/code-field.tsx';
import { Card } from '../../ui/page.tsx';
import { Segments } from '../../ui/segments.tsx';
import { Id } from '../../ui/text.tsx';
import { useSettled } from '../../ui/use-settled.ts';
import { NoRowsBefore } from '../sources/row-before.tsx';
import { useOrigin } from '../streams/use-origin.ts';
import { completeExpression, withField } from './completion.ts';
import { readsPrevious, type Entity } from './entity.ts';
import { ExpressionFormView, type Form } from './form.tsx';
import { checkQuery, type ExpressionCheck } from './queries.ts';
import { textOf, type RuleProps } from './rule-props.ts';
import { useSeenFields } from './use-seen-fields.ts';
import { useTotalLines } from './use-total-lines.tsx';
import styles from './rule.module.css';

/** Comes after the page: most people who open a rule change its condition. */
const Starts = lazy(async () => ({ default: (await import('./after-page.ts')).Starts }));

const VIEWS = [
  { id: 'form', name: 'Form' },
  { id: 'expression', name: 'Expression' },
] as const;
type WhenProps = RuleProps & {
  /** An event can be compared with the one before it. */
  readonly hasPrevious: boolean;
  /** Names that the condition sees. */
  readonly roots: readonly string[];
  readonly entity: Entity;
};

/** In milliseconds. */
const PAUSE = 250;

/** When a rule fires: a form and an expression are two views of one text. */
export function When({ draft, name, rule, stream, change, hasPrevious, roots, entity }: WhenProps): ReactNode {
  const { workspace } = draft;
  const { view = 'form' } = useSearch({ from: '/workspaces/$w/notifications/$n/rules/$r' });
  const navigate = useNavigate({ from: '/workspaces/$w/notifications/$n/rules/$r' });
  const source = textOf(rule.when);
  const asked = useSettled(source, view === 'form' ? 0 : PAUSE);
  // Warnings need a stream that is there.
  const { fields: seen, isKnown } = useSeenFields({ draft, name, rule, stream });
  const known = isKnown ? stream : undefined;
  const { from, hasChanges, hasSnapshots } = useOrigin(workspace, rule.stream);
  const check = useQuery(checkQuery(workspace, asked, 'when', known));
  const complete = useMemo(() => completeExpression(seen, roots), [seen, roots]);
  const given = { draft, name, rule, stream: known, entity, fields: seen, roots, change };
  const { lines, write: writeRule } = useTotalLines(given);
  const write = (text: string): void =>
    writeRule(({ when: _before, ...before }) => (text.trim() === '' ? before : { ...before, when: text }));
  const said = source.trim() === '' ? undefined : check.data;
  const faults = said !== undefined && said.source === source ? said.faults : [];
  const shown = view === 'expression' ? 'expression' : 'form';
  if (rule.cohort !== undefined) {
    return (
      <Card title="When">
        <Suspense fallback={null}>
          <Starts draft={draft} name={name} rule={rule} change={change} />
        </Suspense>
        <CodeField
          label="Condition (optional)"
          note="The change is called event, such as event.cohort_name."
          language="cel"
          value={source}
          onChange={write}
          faults={faults}
        />
      </Card>
    );
  }
  return (
    <Card
      title="When"
      beside={
        <Segments
          label="Views of the condition"
          options={VIEWS}
          chosen={shown}
          onChoose={(id) => void navigate({ search: (before) => ({ ...before, view: id }), replace: true })}
        />
      }
    >
      <Suspense fallback={null}>
        <Starts
          draft={draft}
          name={name}
          rule={rule}
          hasChanges={hasChanges}
          hasSnapshots={hasSnapshots}
          change={change}
        />
      </Suspense>
      {shown === 'form' ? (
        <ExpressionFormView
          workspace={workspace}
          form={`${workspace}/${draft.name}.${name}`}
          source={source}
          place="when"
          renderIntro={(form) => <Intro form={form} isBlank={source.trim() === ''} stream={stream} />}
          tools={source.trim() === '' && <Button onPress={() => write('true')}>Every event</Button>}
          check={said}
          error={check.error}
          hasPrevious={hasPrevious}
          fields={seen}
          complete={complete}
          totals={lines}
          onWrite={write}
        />
      ) : (
        <CodeField
          label="Condition"
          note={
            <>
              An event of <Id>{stream}</Id> fires the rule when this is true. <kbd>Ctrl</kbd> <kbd>Space</kbd> lists
              fields and functions.
            </>
          }
          language="cel"
          minLines={3}
          value={source}
          onChange={write}
          faults={faults}
          complete={complete}
        />
      )}
      <Warnings check={said} source={source} onWrite={write} />
      {from?.tables && stream !== undefined && readsPrevious(source) && (
        <NoRowsBefore workspace={workspace} stream={stream} />
      )}
    </Card>
  );
}

function Intro({
  form: { match, conditions },
  isBlank,
  stream,
}: {
  readonly form: Form;
  readonly isBlank: boolean;
  readonly stream: string | undefined;
}): ReactNode {
  if (isBlank)
    return `Nothing fires this rule yet. Add a condition, or choose every event of ${stream ?? 'its stream'}.`;
  if (conditions.length === 0) {
    return (
      <>
        Every event of <Id>{stream}</Id> fires this rule.
      </>
    );
  }
  return (
    <>
      An event of <Id>{stream}</Id> fires this rule when <b>{match}</b> of these hold.
    </>
  );
}

/** Fields that no event has, with the one that was probably meant. */
export function Warnings({
  check,
  source,
  onWrite,
}: {
  readonly check: ExpressionCheck | undefined;
  readonly source: string;
  readonly onWrite: (source: string) => void;
}): ReactNode {
  const warnings = check?.warnings ?? [];
  if (warnings.length === 0) return null;
  return (
    <ul aria-label="Warnings" className={cls(styles.warnings)}>
      {warnings.map(({ path, message, nearest }) => (
        <li key={`${path} ${message}`}>
          <span>{message}.</span>
          {nearest !== null && (
            <Button onPress={() => onWrite(withField(source, path, nearest))}>Use event.{nearest}</Button>
          )}
        </li>
      ))}
    </ul>
  );
}
