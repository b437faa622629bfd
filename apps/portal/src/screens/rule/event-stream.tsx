import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { reachStep } from '../../api/first-steps.ts';
import { useMay } from '../../api/me.ts';
import { Loading, Problem } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { cls } from '../../ui/class-names.ts';
import { Curl } from '../../ui/curl.tsx';
import { Actions, Card } from '../../ui/page.tsx';
import { Code, Id } from '../../ui/text.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { useLetter } from '../../ui/use-letter.ts';
import { sendEvent, sendingCall } from '../streams/sending.ts';
import { SentAs } from '../streams/sent-as.tsx';
import { useOrigin } from '../streams/use-origin.ts';
import { batchCall } from './batch-call.ts';
import { sampleQuery, type Sample } from './queries.ts';
import { savingOf, type RuleProps } from './rule-props.ts';
import styles from './rule.module.css';

export const LANGUAGES = [
  ['curl', 'curl'],
  ['javascript', 'JavaScript'],
  ['python', 'Python'],
  ['go', 'Go'],
] as const;

/** What a sender needs: the address, the fewest fields, code, and one event sent right now. */
export function EventStream({ draft, name, rule, stream }: RuleProps): ReactNode {
  const { workspace, name: n, resource, hasDraft } = draft;
  const { data, error, refetch } = useQuery({
    ...sampleQuery(workspace, `${n}.${name}`, savingOf(draft)),
    // A draft with mistakes has none.
    enabled: draft.faults.length === 0,
  });
  useLetter('c', () => document.querySelector<HTMLElement>('[data-copies="url"] button')?.click());
  const isPublished = Object.hasOwn(resource?.body.rules ?? {}, name);
  const { from } = useOrigin(workspace, rule.stream);
  if (from !== undefined && rule.stream !== undefined) {
    return (
      <Card title="Event stream">
        <p>
          <Link to="/workspaces/$w/streams/$s" params={{ w: workspace, s: rule.stream }}>
            {rule.stream}
          </Link>{' '}
          reads {Object.keys(from.tables ?? from.topics ?? {}).join(', ')} of {from.integration}. You send no events to
          it.
        </p>
        {data && <Minimum sample={data} />}
      </Card>
    );
  }
  return (
    <Card title="Event stream">
      {error &&
        (rule.cohort === undefined ? <Problem error={error} onRetry={() => void refetch()} /> : <p>{error.message}</p>)}
      {!data && !error && draft.faults.length > 0 && (
        <p>The sample event and its code appear here once the draft has no mistakes.</p>
      )}
      {!data && !error && draft.faults.length === 0 && <Loading what="the event stream" rows={4} />}
      {data && (
        <>
          {rule.stream === undefined ? (
            <p>
              Only this rule uses this stream. Choose who may send under{' '}
              <Link to="/workspaces/$w/notifications/$n/secure" params={{ w: workspace, n }}>
                Secure your endpoint
              </Link>
              .
            </p>
          ) : (
            <p>
              The stream <Id>{rule.stream}</Id> is shared, so other rules get the same events. Choose who may send under{' '}
              <Link to="/workspaces/$w/notifications/$n/secure" params={{ w: workspace, n }}>
                Secure your endpoint
              </Link>
              .
            </p>
          )}
          <h3>URL</h3>
          <div data-copies="url">
            <Code text={data.url} what="the URL" />
          </div>
          <Minimum sample={data} />
          <h3>Code</h3>
          <CodeSamples sample={data} />
          <SendNow
            workspace={workspace}
            stream={stream ?? data.stream}
            event={data.event}
            isPublished={isPublished}
            hasDraft={hasDraft}
          />
        </>
      )}
    </Card>
  );
}

const ORIGINS: Readonly<Record<Sample['fields'][number]['origin'], string>> = {
  condition: 'makes the rule fire',
  fired_event: 'from the newest event that fired',
  placeholder: 'a placeholder',
  absent: 'not in the event',
};

function Minimum({ sample }: { readonly sample: Sample }): ReactNode {
  return (
    <>
      <h3>Required fields</h3>
      <div className={cls(styles.scroll)} tabIndex={0} role="group" aria-label="Required fields">
        <table className={cls(styles.table)}>
          <thead>
            <tr>
              <th scope="col">Field</th>
              <th scope="col">Type</th>
              <th scope="col">Used by</th>
              <th scope="col">Sample value</th>
            </tr>
          </thead>
          <tbody>
            {sample.fields.map(({ path, type, used_by: usedBy, value, origin }) => (
              <tr key={path}>
                <th scope="row">
                  <code>{path}</code>
                </th>
                <td>{type ?? 'any'}</td>
                <td>{usedBy.join(', ')}</td>
                <td>
                  {origin !== 'absent' && <code>{value}</code>} <small>{ORIGINS[origin]}</small>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {sample.whole_event.length > 0 && (
        <p>{sample.whole_event.join(', ')} use the whole event, so no list of fields is complete.</p>
      )}
      {sample.fires && sample.sentence !== null && <p>The rule fires {sample.sentence}.</p>}
      {sample.earlier.map(({ event, times }) => (
        <p key={event}>
          Send this event of the same entity first, {times === 1 ? 'once' : `${times} times`}: <code>{event}</code>
        </p>
      ))}
      {!sample.fires && <p>Carillon knows no values that make this rule fire. Enter your own.</p>}
      {sample.asks !== null && (
        <p>
          {sample.asks} answers who they are. The answer needs: {sample.answered.join(', ') || 'only addresses'} .
        </p>
      )}
    </>
  );
}

/** The same event in four languages and in a batch, with the credential that the stream asks for. */
export function CodeSamples({ sample }: { readonly sample: Sample }): ReactNode {
  const [chosen, setChosen] = useState('curl');
  return (
    <>
      <Tabs
        label="Languages"
        chosen={chosen}
        onChoose={setChosen}
        tabs={[
          ...LANGUAGES.map(([id, name]) => ({
            id,
            name,
            content: <Code text={sample.code[id]} what={`the code in ${name}`} />,
          })),
          {
            id: 'batch',
            name: 'Many events',
            content: <Code text={batchCall(sample)} what="the code for many events" />,
          },
        ]}
      />
      <p className={cls(styles.note)}>
        The code reads the credential from <code>{sample.credential.variable}</code>, an environment variable.{' '}
        {sample.credential.advice}
      </p>
    </>
  );
}

function SendNow({
  workspace,
  stream,
  event,
  isPublished,
  hasDraft,
}: {
  readonly workspace: string;
  readonly stream: string;
  readonly event: string;
  readonly isPublished: boolean;
  readonly hasDraft: boolean;
}): ReactNode {
  const off = useMay('configure', workspace);
  const send = useMutation({
    mutationFn: () => sendEvent(workspace, stream, event),
    onSuccess: () => reachStep(workspace, 'event'),
  });
  return (
    <>
      <Actions>
        <Button off={off} isDisabled={!isPublished || send.isPending} onPress={() => send.mutate()}>
          Send this event now
        </Button>
        <span className={cls(styles.note)}>
          {!isPublished
            ? 'The rule is not published yet, so it would not get the event.'
            : hasDraft
              ? 'The published rule evaluates it, not this draft, and real people are notified.'
              : 'Sent in your name, without a key. The event is evaluated like any other, and real people are notified.'}
        </span>
      </Actions>
      <Curl call={sendingCall(workspace, stream, event)} />
      {send.error && <Problem error={send.error} />}
      {send.data && <SentAs workspace={workspace} id={send.data.id} />}
    </>
  );
}
