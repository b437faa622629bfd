import type { ReactNode } from 'react';
import { cls } from '../../ui/class-names.ts';
import { Lamp } from '../../ui/state.tsx';
import { Time } from '../../ui/time.tsx';
import type { RunRow } from './queries.ts';
import { addressText, DIFFERENCE_TONES, differenceText } from './run-text.ts';
import styles from './runs.module.css';

/** Rows of a run. */
export function RowList({ rows }: { readonly rows: readonly RunRow[] }): ReactNode {
  return (
    <ul aria-label="Messages" className={cls(styles.rows)}>
      {rows.map((row) => (
        <li key={row.slot} className={cls(styles.row)}>
          <RowFacts row={row} />
        </li>
      ))}
    </ul>
  );
}

/** The difference, the person, what the deliveries say, and the time of the event. */
function RowFacts({ row }: { readonly row: RunRow }): ReactNode {
  return (
    <span className={cls(styles.facts)}>
      <Lamp tone={DIFFERENCE_TONES[row.difference]}>{differenceText(row.difference)}</Lamp>
      <span className={cls(styles.person)}>
        <bdi>{row.person ?? 'The event is gone'}</bdi>
        <span className={cls(styles.about)}>
          {row.rule} by {row.channel}, to <bdi>{addressText(row)}</bdi>
        </span>
      </span>
      <span className={cls(styles.slot)}>{row.slot_state_words}</span>
      <Time at={row.at} />
    </span>
  );
}
