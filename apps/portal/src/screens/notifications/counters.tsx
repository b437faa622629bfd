import type { ReactNode } from 'react';
import { cls } from '../../ui/class-names.ts';
import { countsOf } from './queries.ts';
import styles from './notifications.module.css';

const WORDS = { sent: 'sent', waiting: 'waiting', held: 'held back', failed: 'failed', doubt: 'in doubt' } as const;

/** Counts the deliveries of a time by what became of them. A count of none is left out. */
export function Counters({
  states,
  within = 'in 24 hours',
}: {
  readonly states: Readonly<Record<string, number>> | undefined;
  /** The time that is counted, in words. */
  readonly within?: string;
}): ReactNode {
  const counts = countsOf(states ?? {});
  const shown = (Object.keys(WORDS) as (keyof typeof WORDS)[]).filter((key) => counts[key] > 0);
  return (
    <span className={cls(styles.counters)}>
      {shown.length === 0 && <span>nothing {within}</span>}
      {shown.map((key) => (
        <span key={key} className={cls(styles[key])}>
          <b>{counts[key].toLocaleString('en')}</b> {WORDS[key]}
        </span>
      ))}
      {shown.length > 0 && <span className={cls(styles.span)}>{within}</span>}
    </span>
  );
}
