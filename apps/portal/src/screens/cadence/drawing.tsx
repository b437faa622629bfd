import { useQuery } from '@tanstack/react-query';
import { useEffect, useState, type ReactNode } from 'react';
import { faultText } from '../../faults/fault-text.ts';
import { Loading, Problem } from '../../ui/answers.tsx';
import { cls } from '../../ui/class-names.ts';
import { Card } from '../../ui/page.tsx';
import { Lanes } from './lanes.tsx';
import { changeSentence, groundTitle, groundWords, runSentence } from './run-words.ts';
import { simulationQuery, type Tried } from './simulate.ts';
import { Week } from './week.tsx';
import styles from './cadence.module.css';

/**
 * Milliseconds between two keys of a word. Each request cancels the previous one; pause and response fit into 300 ms.
 */
const PAUSE = 50;

/** Returns the input once the user has stopped typing for a moment. */
function useCalm(tried: Tried): Tried {
  const [calm, setCalm] = useState(tried);
  const words = JSON.stringify(tried);
  useEffect(() => {
    const timer = setTimeout(() => setCalm(JSON.parse(words) as Tried), PAUSE);
    return () => clearTimeout(timer);
  }, [words]);
  return calm;
}

/** The last seven days as a cadence would send them: in a sentence, as bars, and by person. */
export function Drawing({ tried, children }: { readonly tried: Tried; readonly children?: ReactNode }): ReactNode {
  const { data, error, refetch, isPlaceholderData } = useQuery(simulationQuery(useCalm(tried)));
  const run = data?.proposed ?? data?.now;
  const change = data?.proposed ? changeSentence(data.now, data.proposed) : null;
  return (
    <Card title={data ? groundTitle(data) : 'Last 7 days'}>
      {children}
      {error && <Problem error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Loading what="the last 7 days" />}
      {data && run && (
        <div className={cls(styles.drawing)} data-behind={isPlaceholderData ? '' : undefined}>
          <p role="status">
            {change !== null && <span className={cls(styles.changed)}>{change} </span>}
            {runSentence(run)}
          </p>
          <p className={cls(styles.ground)} data-ground={data.history}>
            {groundWords(data)}
          </p>
          {data.faults.map((fault) => (
            <p key={`${fault.resource} ${fault.path} ${fault.message}`} className={cls(styles.quiet)}>
              The drawing shows the published version, because the draft has a mistake: {faultText(fault)}
            </p>
          ))}
          {run.messages > 0 && (
            <>
              <Week simulated={data} />
              <p className={cls(styles.legend)}>
                <span>Sent</span>
                <span className={cls(styles.legendHeld)}>Held until</span>
                <span className={cls(styles.legendDigest)}>Digest</span>
                <span className={cls(styles.legendDropped)}>Dropped</span>
              </p>
              <p>
                People with a held or dropped message: <b>{run.people_touched.toLocaleString('en')}</b>
                {run.dropped_by.map(({ by, count }) => ` · ${count.toLocaleString('en')} dropped by ${by}`).join('')}
              </p>
              {run.most_touched.length > 0 && <Lanes people={run.most_touched} from={data.from} to={data.to} />}
            </>
          )}
        </div>
      )}
    </Card>
  );
}
