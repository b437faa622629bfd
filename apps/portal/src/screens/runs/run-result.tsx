import type { ReactNode } from 'react';
import { Bars } from '../../ui/bars.tsx';
import { cls } from '../../ui/class-names.ts';
import { Sentence } from '../../ui/sentence.tsx';
import { Lamp } from '../../ui/state.tsx';
import type { Run } from './queries.ts';
import {
  barsOf,
  DIFFERENCE_TONES,
  differenceText,
  reasonText,
  ROW_DIFFERENCES,
  stateText,
  TONE_NAMES,
} from './run-text.ts';
import styles from './runs.module.css';

/** The result of a run that has ended: the warning before all numbers, the sentence, and bars by day; or why there is none. */
export function RunResult({ run }: { readonly run: Run }): ReactNode {
  const { counts, notes, sentence, state, warning } = run;
  if (sentence === null) {
    return (
      <div role="status" className={cls(styles.ended)}>
        <Lamp tone={state === 'failed' ? 'bad' : 'none'}>{stateText(run)}</Lamp>
        <p>{reasonText(run)}</p>
      </div>
    );
  }
  const bars = barsOf(run);
  return (
    <>
      {warning !== null && (
        <p role="alert" className={cls(styles.warning)}>
          {warning}
        </p>
      )}
      <p role="status" className={cls(styles.sentence)}>
        <Sentence text={sentence} />
      </p>
      {bars.length > 0 && (
        <>
          <ul aria-label="Messages by difference" className={cls(styles.legend)}>
            {ROW_DIFFERENCES.filter((difference) => (counts?.differences?.[difference] ?? 0) > 0).map((difference) => (
              <li key={difference}>
                <Lamp tone={DIFFERENCE_TONES[difference]}>
                  {(counts?.differences?.[difference] ?? 0).toLocaleString('en')}{' '}
                  {difference === 'new_unique_id' ? 'with a new unique_id' : differenceText(difference).toLowerCase()}
                </Lamp>
              </li>
            ))}
          </ul>
          <Bars summary="Messages that differ, by day" bars={bars} names={TONE_NAMES} isByDay />
        </>
      )}
      {notes.length > 0 && (
        <ul aria-label="Messages that the numbers leave out" className={cls(styles.notes)}>
          {notes.map((note) => (
            <li key={note}>
              <Sentence text={note} />
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
