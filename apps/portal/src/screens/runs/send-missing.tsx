import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { queryClient } from '../../api/query-client.ts';
import { Loading, Problem } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { cls } from '../../ui/class-names.ts';
import { Field } from '../../ui/field.tsx';
import { isTyped } from '../../ui/is-typed.ts';
import { NativeSelect } from '../../ui/native-select.tsx';
import { Quiet } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { Checkbox } from '../../ui/toggle.tsx';
import { counted } from '../drafts/change-words.ts';
import { beginEach, type Begun } from '../jobs/by-workspace.ts';
import { Foot } from '../jobs/job-progress.tsx';
import { StartJob } from '../jobs/start-job.tsx';
import { missingQuery, sendBody, sendMissing, type Missing, type MissingChoice, JOBS } from './missing-queries.ts';
import { AGES, DEFAULT_AGE, missingText, readRate } from './missing-text.ts';
import type { Run } from './queries.ts';
import { RowFacts } from './row-list.tsx';
import styles from './runs.module.css';

type Asking = {
  readonly run: Run;
  readonly onJob: (begun: Begun) => void;
  readonly onLeave: () => void;
};

/** Asks which missing messages are meant, shows them as they are now, and sends them after their number is typed. */
export function SendMissing({ run, onJob, onLeave }: Asking): ReactNode {
  const [choice, setChoice] = useState<MissingChoice>({ age: DEFAULT_AGE, withStopped: false, withLookups: false });
  const { data, dataUpdatedAt, error, refetch } = useQuery(missingQuery(run, choice));
  const [refusal, setRefusal] = useState<Error | null>(null);
  const choose = (next: MissingChoice): void => {
    setRefusal(null);
    setChoice(next);
  };
  return (
    <div className={cls(styles.sending)}>
      <NativeSelect
        label="Maximum age of an event"
        options={AGES}
        value={choice.age}
        onChange={(age) => choose({ ...choice, age })}
      />
      <Checkbox isOn={choice.withStopped} onChange={(withStopped) => choose({ ...choice, withStopped })}>
        Also messages that ended unsent, such as capped ones
      </Checkbox>
      {(run.counts?.needs_lookup ?? 0) > 0 && (
        <Checkbox isOn={choice.withLookups} onChange={(withLookups) => choose({ ...choice, withLookups })}>
          Also events that need a lookup: their partner is asked now
        </Checkbox>
      )}
      {error && <Problem error={error} onRetry={() => void refetch()} />}
      {refusal && !error && <Problem error={refusal} />}
      {!error && !data && <Loading what="missing messages" rows={3} />}
      {data && !error && (
        <Found
          // A new look is confirmed anew.
          key={dataUpdatedAt}
          run={run}
          choice={choice}
          missing={data}
          onJob={onJob}
          onLeave={onLeave}
          onRefused={(refused) => {
            setRefusal(refused);
            void refetch();
          }}
        />
      )}
      {!data && (
        <Foot>
          <Button onPress={onLeave}>Cancel</Button>
        </Foot>
      )}
    </div>
  );
}

/** The missing messages of a look, and the question before they are sent. */
function Found({
  run,
  choice,
  missing,
  onJob,
  onLeave,
  onRefused,
}: Asking & {
  readonly choice: MissingChoice;
  readonly missing: Missing;
  readonly onRefused: (error: Error) => void;
}): ReactNode {
  const [typed, setTyped] = useState('');
  const [rate, setRate] = useState('10');
  const perSecond = readRate(rate);
  const { count } = missing;
  if (count === 0) {
    return (
      <>
        <p role="status">No message is missing.</p>
        <TooOld missing={missing} />
        <Foot>
          <Button onPress={onLeave}>Close</Button>
        </Foot>
      </>
    );
  }
  const body = sendBody(missing, choice, perSecond ?? 1);
  return (
    <StartJob
      workspaces={[run.workspace]}
      verb={`Send ${count.toLocaleString('en')}`}
      calls={[{ method: 'POST', path: `/v1/workspaces/${run.workspace}/runs/${run.id}/send`, body }]}
      start={async () => {
        const begun = await beginEach([{ workspace: run.workspace }], () => sendMissing(run, body));
        void queryClient.invalidateQueries({ queryKey: [JOBS] });
        return begun;
      }}
      isOff={!isTyped(typed, String(count)) || perSecond === null}
      onJob={onJob}
      onRefused={onRefused}
      onLeave={onLeave}
    >
      <p role="status" className={cls(styles.sentence)}>
        {missingText(missing)}
      </p>
      {missing.oldest !== null && missing.newest !== null && (
        <p>
          The events of these messages are from <Time at={missing.oldest} /> to <Time at={missing.newest} />.
        </p>
      )}
      <TooOld missing={missing} />
      <FirstMissing missing={missing} />
      <Field
        label="Messages per second"
        value={rate}
        onChange={setRate}
        inputMode="numeric"
        fault={perSecond === null ? 'Enter a whole number from 1 to 1000.' : null}
      />
      <Field
        label={`Type ${count} to confirm`}
        note="Delivery checks each message again: nobody is notified twice."
        value={typed}
        onChange={setTyped}
        inputMode="numeric"
        autoComplete="off"
      />
    </StartJob>
  );
}

function TooOld({ missing: { since, too_old: events } }: { readonly missing: Missing }): ReactNode {
  if (events === 0) return null;
  return (
    <Quiet>
      {counted(events, 'older event')} with missing messages left out: {events === 1 ? 'it' : 'they'} came before{' '}
      <Time at={since} />.
    </Quiet>
  );
}

/** The newest missing messages, for people who may see names. */
function FirstMissing({ missing: { messages, rows } }: { readonly missing: Missing }): ReactNode {
  if (rows === null || rows.length === 0) return null;
  return (
    <details>
      <summary>{rows.length === messages ? 'The messages' : `The newest ${counted(rows.length, 'message')}`}</summary>
      <ul aria-label="Missing messages" className={cls(styles.rows)}>
        {rows.map((row) => (
          <li key={row.slot} className={cls(styles.row, styles.plain)}>
            <RowFacts row={row} />
          </li>
        ))}
      </ul>
    </details>
  );
}
