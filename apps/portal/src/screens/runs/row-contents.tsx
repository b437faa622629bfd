import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Schemas } from '../../api/client.ts';
import { useMay } from '../../api/me.ts';
import { Loading, Problem } from '../../ui/answers.tsx';
import { cls } from '../../ui/class-names.ts';
import { Curl } from '../../ui/curl.tsx';
import { Sentence } from '../../ui/sentence.tsx';
import { Lamp } from '../../ui/state.tsx';
import type { Tone } from '../../ui/state-words.ts';
import { rowContentQuery, type RowSide, type Run, type RunRow } from './queries.ts';
import styles from './runs.module.css';

type Gate = RowSide['gates'][number];
type Message = NonNullable<RowSide['message']>;

type RowOf = { readonly run: Run; readonly row: RunRow };

/** The message of a row on both sides, and why each side wants it or does not. Read when the row is opened. */
export function RowContents(props: RowOf): ReactNode {
  const off = useMay('bodies', props.run.workspace);
  return off === null ? <Contents {...props} /> : <p>{off}</p>;
}

function Contents({ run, row }: RowOf): ReactNode {
  const { id, workspace } = run;
  const { data, error, refetch } = useQuery(rowContentQuery(workspace, id, row.slot));
  if (error) return <Problem error={error} onRetry={() => void refetch()} />;
  if (!data) return <Loading what="the message" rows={3} />;
  const { before, after, note } = data;
  if (before === null || after === null)
    return <p>The event is no longer on the log, so its messages cannot be made again.</p>;
  return (
    <>
      {note !== null && (
        <p role="note">
          <Sentence text={note} />
        </p>
      )}
      <div className={cls(styles.sides)}>
        <Side title="Before" side={before} other={after} />
        <Side title="After" side={after} other={before} />
      </div>
      <div className={cls(styles.ways)}>
        <Link to="/workspaces/$w/events/$id" params={{ w: workspace, id: row.event }}>
          Story of the event
        </Link>
        {row.delivery_id !== null && (
          <Link to="/workspaces/$w/deliveries" params={{ w: workspace }} search={{ open: row.delivery_id }}>
            Open the delivery
          </Link>
        )}
      </div>
      <Curl call={{ method: 'GET', path: `/v1/workspaces/${workspace}/runs/${id}/rows/${row.slot}` }} />
    </>
  );
}

function Side({
  title,
  side,
  other,
}: {
  readonly title: string;
  readonly side: RowSide;
  readonly other: RowSide;
}): ReactNode {
  return (
    <section aria-label={title} className={cls(styles.side)}>
      <h3>{title}</h3>
      <ol aria-label={`Gates, ${title.toLowerCase()}`} className={cls(styles.gates)}>
        {side.gates.map((gate, at) => (
          <GateItem key={gate.gate} gate={gate} differs={isDifferent(gate, other.gates[at])} />
        ))}
      </ol>
      {side.message === null ? (
        <p>No message.</p>
      ) : (
        <MessageText message={side.message} to={side.to} variables={side.variables} />
      )}
    </section>
  );
}

/** Returns true if both sides reached a gate, with another result or other values. */
function isDifferent(gate: Gate, other: Gate | undefined): boolean {
  if (other === undefined || [gate.result, other.result].includes('not_reached')) return false;
  return gate.result !== other.result || gate.lines.join('\n') !== other.lines.join('\n');
}

type Result = { readonly tone: Tone; readonly words: string };
const RESULTS: Readonly<Record<Schemas['WhyNotGate']['result'], Result>> = {
  passed: { tone: 'good', words: 'Passed' },
  stopped: { tone: 'bad', words: 'Stopped' },
  waiting: { tone: 'wait', words: 'Waiting' },
  in_doubt: { tone: 'doubt', words: 'In doubt' },
  not_reached: { tone: 'none', words: 'Not reached' },
  unknown: { tone: 'none', words: 'Not known' },
};

function GateItem({ gate, differs }: { readonly gate: Gate; readonly differs: boolean }): ReactNode {
  const { tone, words } = RESULTS[gate.result];
  return (
    <li data-gate={gate.gate} data-result={gate.result} className={cls(styles.gate, differs && styles.differs)}>
      <Lamp tone={tone}>{differs ? `${words}, differs` : words}</Lamp>
      <b>{gate.title}</b>
      {gate.text !== '' && (
        <bdi>
          <Sentence text={gate.text} />
        </bdi>
      )}
      {gate.lines.length > 0 && <pre>{gate.lines.join('\n')}</pre>}
    </li>
  );
}

function MessageText({
  message,
  to,
  variables,
}: {
  readonly message: Message;
  readonly to: string | null;
  readonly variables: string | null;
}): ReactNode {
  const { channel, error, html, missing, ok, push, subject, text } = message;
  const none = html === null ? '' : 'It has no text part. The preview of the template shows its HTML part.';
  return (
    <article className={cls(styles.message)}>
      <header>
        <b>{subject ?? push?.title ?? channel}</b> to <bdi>{to}</bdi>
      </header>
      {!ok && <p className={cls(styles.fault)}>Not sent: {error}</p>}
      <pre tabIndex={0} role="group" aria-label={`Text of the ${channel}`}>
        {push?.body ?? text ?? none}
      </pre>
      {missing.length > 0 && <p>Empty in the message, because the event has no value: {missing.join(', ')}</p>}
      {variables !== null && (
        <details>
          <summary>Variables</summary>
          <pre tabIndex={0} role="group" aria-label="Variables">
            {variables}
          </pre>
        </details>
      )}
    </article>
  );
}
