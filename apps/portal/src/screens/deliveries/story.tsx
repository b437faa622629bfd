import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { cls } from '../../ui/class-names.ts';
import { State } from '../../ui/state.tsx';
import { humane } from '../../ui/state-words.ts';
import { Id } from '../../ui/text.tsx';
import { Time } from '../../ui/time.tsx';
import { Sentence } from '../../ui/sentence.tsx';
import type { Trace } from './queries.ts';
import styles from './story.module.css';

const NAMES: Readonly<Record<string, string>> = {
  event: 'Event',
  evaluation: 'Evaluation',
  rule: 'Rule',
  trigger: 'Trigger',
  intent: 'Intent',
  delivery: 'Delivery',
  attempt: 'Attempt',
  duplicate: 'Duplicate',
  dead_letter: 'Dead letter',
};

/** An id; what has a story of its own is a link to it, but for the one that is shown. */
export function IdLink({
  id,
  workspace,
  shown,
}: {
  readonly id: string;
  readonly workspace: string;
  readonly shown?: string | undefined;
}): ReactNode {
  if (id === shown || !/^(evt|dlv)_/.test(id)) return <Id>{id}</Id>;
  return id.startsWith('evt_') ? (
    <Link to="/workspaces/$w/events/$id" params={{ w: workspace, id }}>
      <Id>{id}</Id>
    </Link>
  ) : (
    <Link to="/workspaces/$w/deliveries" params={{ w: workspace }} search={{ open: id }}>
      <Id>{id}</Id>
    </Link>
  );
}

type Step = Trace['steps'][number];

/** Step by step what happened, as `carillon trace` tells it. */
export function Story({ trace, workspace }: { readonly trace: Trace; readonly workspace: string }): ReactNode {
  return (
    <ol aria-label="Story" className={cls(styles.steps)}>
      {trace.steps.map((step, place) => (
        <li
          key={`${place} ${step.step}`}
          data-step={step.step}
          className={cls((step.step === 'rule' || step.step === 'duplicate') && styles.ended)}
        >
          <StepLines
            step={step}
            workspace={workspace}
            shown={trace.id}
            event={trace.steps.find((one) => one.step === 'event')?.id ?? null}
          />
        </li>
      ))}
    </ol>
  );
}

function StepLines({
  step,
  workspace,
  shown,
  event,
}: {
  readonly step: Step;
  readonly workspace: string;
  readonly shown: string;
  readonly event: string | null;
}): ReactNode {
  const isNamed = step.step === 'rule' || step.step === 'trigger';
  const places = [
    step.rule === null ? null : `${isNamed ? '' : `${step.rule} `}version ${step.rule_version}`,
    step.config_number === null ? null : `configuration ${step.config_number}`,
    step.position,
  ].filter((place) => place !== null);
  return (
    <>
      <b>
        {NAMES[step.step] ?? humane(step.step)}
        {isNamed && step.rule !== null && ` ${step.rule}`}
      </b>{' '}
      {step.state !== null && <State state={step.state} words={step.state_words} />}
      {step.reason_words !== null && ` (${step.reason_words})`}
      <div>
        <Sentence text={step.text} />
      </div>
      {step.lines.length > 0 && <pre>{step.lines.join('\n')}</pre>}
      <div className={cls(styles.sub)}>
        {step.at !== null && <Time at={step.at} />}
        {step.step === 'intent' && step.person !== null && (
          <span>
            for <bdi>{step.person}</bdi>
          </span>
        )}
        {step.id !== null && <IdLink id={step.id} workspace={workspace} shown={shown} />}
        {places.length > 0 && <Id>{places.join(' · ')}</Id>}
        {isNamed && step.rule !== null && event !== null && (
          <TryIt workspace={workspace} rule={step.rule} event={event} />
        )}
      </div>
    </>
  );
}

/** The way to the test bench of a rule, where each part of its condition has its value for this event. */
function TryIt({
  workspace,
  rule,
  event,
}: {
  readonly workspace: string;
  readonly rule: string;
  readonly event: string;
}): ReactNode {
  const dot = rule.lastIndexOf('.');
  return (
    <Link
      to="/workspaces/$w/notifications/$n/rules/$r"
      params={{ w: workspace, n: rule.slice(0, dot), r: rule.slice(dot + 1) }}
      search={{ event }}
    >
      Show each part of the condition
    </Link>
  );
}
