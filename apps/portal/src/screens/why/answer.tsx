import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useMay } from '../../api/me.ts';
import { cls } from '../../ui/class-names.ts';
import { Sentence } from '../../ui/sentence.tsx';
import { Lamp } from '../../ui/state.tsx';
import type { Tone } from '../../ui/state-words.ts';
import { Id } from '../../ui/text.tsx';
import { Time } from '../../ui/time.tsx';
import type { Gate, Other, Whole, WhyNot, WhySearch } from './question.ts';
import styles from './why.module.css';

type Worded = { readonly tone: Tone; readonly words: string };

const VERDICTS: Readonly<Record<WhyNot['verdict'], Worded>> = {
  told: { tone: 'good', words: 'Notified' },
  waiting: { tone: 'wait', words: 'Waiting' },
  in_doubt: { tone: 'doubt', words: 'In doubt' },
  stopped: { tone: 'bad', words: 'Not notified' },
  no_event: { tone: 'none', words: 'No event' },
};
const RESULTS: Readonly<Record<Gate['result'], Worded>> = {
  passed: { tone: 'good', words: 'Passed' },
  stopped: { tone: 'bad', words: 'Stopped' },
  waiting: { tone: 'wait', words: 'Waiting' },
  in_doubt: { tone: 'doubt', words: 'In doubt' },
  not_reached: { tone: 'none', words: 'Not reached' },
  unknown: { tone: 'none', words: 'Not known' },
};
const SOURCES: Readonly<Record<NonNullable<Gate['source']>, string>> = {
  projection: 'from the list of events',
  log: 'from evaluating the event again',
  state: 'from what the rule keeps of the entity',
  ledger: 'from the delivery ledger',
  configuration: 'from the configuration',
};

const counted = (count: number, one: string, many: string): string =>
  `${count.toLocaleString('en')} ${count === 1 ? one : many}`;

export type AnswerProps = {
  readonly workspace: string;
  readonly search: WhySearch;
  readonly whole: Whole;
  /** To look at older events; null: there are none in the span. */
  readonly more: ReactNode;
};

/** The sentence, the gates with their evidence, what else happened, and what all of it was taken from. */
export function Answer({ workspace, search, whole, more }: AnswerProps): ReactNode {
  const { main, others, looked, hasMore } = whole;
  const { tone, words } = VERDICTS[main.verdict];
  const unseen = useMay('bodies', workspace);
  return (
    <>
      <section aria-label="Answer" className={cls(styles.lead)}>
        <Lamp tone={tone} name={main.verdict}>
          {words}
        </Lamp>
        <h2>
          <Sentence text={main.sentence} />
        </h2>
        <WithDrafts outcome={main.with_drafts} />
        {main.verdict === 'no_event' && <Silence workspace={workspace} main={main} />}
      </section>
      {main.verdict !== 'no_event' && (
        <ol aria-label="Gates" className={cls(styles.gates)}>
          {main.gates.map((gate) => (
            <GateLines key={gate.gate} gate={gate} workspace={workspace} search={search} main={main} />
          ))}
        </ol>
      )}
      {others.length > 0 && <Others workspace={workspace} search={search} others={others} />}
      <section aria-label="Sources" className={cls(styles.from)}>
        <p>
          {counted(looked.events, 'event', 'events')} read, {looked.judged_again.toLocaleString('en')} evaluated again
          with the configuration of their time, {counted(looked.deliveries, 'delivery', 'deliveries')} found in the
          ledger by this name.
          {!looked.complete && (
            <>
              {' '}
              {hasMore
                ? 'Older events of this period were not read yet'
                : `${counted(looked.not_kept, 'older event holds', 'older events hold')} the text too, and the search did not keep them`}
              {looked.since !== null && (
                <>
                  : the answer goes back to <Time at={looked.since} />
                </>
              )}
              .
            </>
          )}
        </p>
        {main.drafts_left_out.length > 0 && (
          <p>
            Drafts of other people that have mistakes are left out:{' '}
            {main.drafts_left_out.map(({ kind, name }) => `${kind} ${name}`).join(', ')}.
          </p>
        )}
        {unseen !== null && <p>Values of events and texts of providers are hidden. {unseen}</p>}
        {more}
      </section>
    </>
  );
}

const DRAFT_TONES: Readonly<Record<NonNullable<WhyNot['with_drafts']>['result'], Tone>> = {
  notified: 'good',
  waiting: 'wait',
  in_doubt: 'doubt',
  stopped: 'bad',
  unknown: 'none',
};

function WithDrafts({ outcome }: { readonly outcome: WhyNot['with_drafts'] }): ReactNode {
  if (outcome === null) return null;
  return <Lamp tone={DRAFT_TONES[outcome.result]}>With the drafts: {outcome.words}</Lamp>;
}

/** Nothing came about them: what came last, and where to look at the sender. */
function Silence({ workspace, main }: { readonly workspace: string; readonly main: WhyNot }): ReactNode {
  const params = { w: workspace };
  return (
    <p className={cls(styles.ways)}>
      {main.last !== null && (
        <Link to="/workspaces/$w/events/$id" params={{ w: workspace, id: main.last.event }}>
          Open the last event
        </Link>
      )}
      <Link to="/workspaces/$w/streams" params={params}>
        Event streams
      </Link>
      <Link to="/workspaces/$w/deliveries" params={params} search={main.who === '' ? {} : { recipient: main.who }}>
        Deliveries to this person
      </Link>
    </p>
  );
}

type GateProps = {
  readonly gate: Gate;
  readonly workspace: string;
  readonly search: WhySearch;
  readonly main: WhyNot;
};

function GateLines({ gate, workspace, search, main }: GateProps): ReactNode {
  const { tone, words } = RESULTS[gate.result];
  const isDecisive = gate.gate === main.gate;
  return (
    <li
      data-gate={gate.gate}
      data-result={gate.result}
      className={cls(styles.gate, isDecisive && styles.decisive, gate.result === 'not_reached' && styles.after)}
    >
      <Lamp tone={tone}>{words}</Lamp>
      <div>
        <b>{gate.title}</b>
        {gate.text !== '' && (
          <div>
            <Linked text={gate.text} workspace={workspace} />
          </div>
        )}
        {gate.lines.length > 0 && <pre>{gate.lines.join('\n')}</pre>}
        <div className={cls(styles.sub)}>
          {gate.at !== null && <Time at={gate.at} />}
          {gate.evidence.map(({ kind, id }) => (
            <Evidence key={`${kind} ${id}`} kind={kind} id={id} workspace={workspace} event={main.event} />
          ))}
          {isDecisive && <Ways gate={gate} workspace={workspace} search={search} main={main} />}
          {gate.source !== null && <span>{SOURCES[gate.source]}</span>}
        </div>
      </div>
    </li>
  );
}

const IDS = /((?:evt|dlv)_[0-9A-Z]{26})/;

/** Words of the server; the events and deliveries that they name are links. */
function Linked({ text, workspace }: { readonly text: string; readonly workspace: string }): ReactNode {
  return text.split(IDS).map((part, at) => {
    if (!IDS.test(part)) return <Sentence key={at} text={part} />;
    const kind = part.startsWith('evt_') ? 'event' : 'delivery';
    return <Evidence key={at} kind={kind} id={part} workspace={workspace} event={null} />;
  });
}

/** A notification and a rule, of `notification.rule`. */
function partsOf(rule: string): { readonly n: string; readonly r: string } {
  const dot = rule.lastIndexOf('.');
  return dot === -1 ? { n: rule, r: '' } : { n: rule.slice(0, dot), r: rule.slice(dot + 1) };
}

function Evidence({
  kind,
  id,
  workspace,
  event,
}: Gate['evidence'][number] & { readonly workspace: string; readonly event: string | null }): ReactNode {
  const shown = <Id>{id}</Id>;
  switch (kind) {
    case 'event':
      return (
        <Link to="/workspaces/$w/events/$id" params={{ w: workspace, id }}>
          {shown}
        </Link>
      );
    case 'delivery':
      return (
        <Link to="/workspaces/$w/deliveries" params={{ w: workspace }} search={{ open: id }}>
          {shown}
        </Link>
      );
    case 'rule':
      return (
        <Link
          to="/workspaces/$w/notifications/$n/rules/$r"
          params={{ w: workspace, ...partsOf(id) }}
          search={event === null ? {} : { event }}
        >
          {shown}
        </Link>
      );
    case 'notification':
      return (
        <Link to="/workspaces/$w/notifications/$n" params={{ w: workspace, n: id }}>
          {shown}
        </Link>
      );
  }
}

/** Where the thing that stopped it stands, and can be changed. */
function Ways({ gate, workspace, main, search }: GateProps): ReactNode {
  const w = workspace;
  const rule = main.rule ?? main.notification;
  const { n, r } = partsOf(rule);
  switch (gate.gate) {
    case 'rule':
    case 'condition':
    case 'unless':
    case 'deadline':
    case 'recipient':
      return r === '' ? null : (
        <Link
          to="/workspaces/$w/notifications/$n/rules/$r"
          params={{ w, n, r }}
          search={main.event === null ? {} : { event: main.event }}
        >
          Show each part of the condition
        </Link>
      );
    case 'consent':
      return (
        <Link
          to="/workspaces/$w/opt-outs"
          params={{ w }}
          search={search.who === undefined ? {} : { person: search.who }}
        >
          Opt-outs of this person
        </Link>
      );
    case 'address':
      return (
        <Link
          to="/workspaces/$w/suppressions"
          params={{ w }}
          search={search.who === undefined ? {} : { address: search.who }}
        >
          Why this address is suppressed
        </Link>
      );
    case 'schedule':
    case 'limits':
      return (
        <Link to="/workspaces/$w/notifications/$n/cadence" params={{ w, n }}>
          Open the cadence
        </Link>
      );
    case 'rendered':
    case 'provider':
      return (
        <Link to="/workspaces/$w/notifications/$n/channels" params={{ w, n }}>
          Open the channels
        </Link>
      );
    case 'event':
    case 'duplicate':
    case 'in_time':
    case 'receipt':
      return null;
  }
}

function Others({
  workspace,
  search,
  others,
}: {
  readonly workspace: string;
  readonly search: WhySearch;
  readonly others: readonly Other[];
}): ReactNode {
  return (
    <section aria-label="Other events about this person">
      <h2>Other events about this person</h2>
      <ul className={cls(styles.others)}>
        {others.map((one) => {
          const { tone, words } = VERDICTS[one.verdict];
          return (
            <li key={`${one.event} ${one.rule}`}>
              <Time at={one.at} />
              <Lamp tone={tone} name={one.verdict}>
                {words}
              </Lamp>
              <Link
                to="/workspaces/$w/why"
                params={{ w: workspace }}
                search={{
                  who: search.who ?? '',
                  notification: one.rule,
                  event: one.event,
                  ...(search.drafts !== undefined && { drafts: search.drafts }),
                }}
                aria-label={`The gates of event ${one.event}`}
              >
                <Id>{one.event}</Id>
              </Link>
              <Id>{one.rule}</Id>
              {one.gate !== null && (
                <span className={cls(styles.quiet)}>
                  stopped at: <Sentence text={one.text} />
                </span>
              )}
              <WithDrafts outcome={one.with_drafts} />
            </li>
          );
        })}
      </ul>
    </section>
  );
}
