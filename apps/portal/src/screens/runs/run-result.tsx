import type { ReactNode } from 'react';
import { Bars } from '../../ui/bars.tsx';
import type { Run } from './queries.ts';
import { barsOf } from './run-text.ts';

const NAMES = { good: 'Added', held: 'Changed', bad: 'Removed' };

/** The result of a run: the warning before all numbers, the sentence, and bars by day. */
export function RunResult({ run }: { readonly run: Run }): ReactNode {
  const { counts, notes, reason, sentence, state, warning } = run;
  if (sentence === null || counts === null) {
    return <p role="status">{reason === null ? `The comparison is ${state}.` : reason.detail}</p>;
  }
  const bars = barsOf(counts);
  return (
    <>
      {warning !== null && <p role="alert">{warning}</p>}
      <p role="status">{sentence}</p>
      {bars.length > 0 && <Bars summary="Messages by day: added, changed and removed" bars={bars} names={NAMES} />}
      {notes.length > 0 && (
        <ul aria-label="What the numbers leave out">
          {notes.map((note) => (
            <li key={note}>{note}</li>
          ))}
        </ul>
      )}
    </>
  );
}
