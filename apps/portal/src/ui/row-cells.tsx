import type { ReactNode } from 'react';
import { cls } from './class-names.ts';
import styles from './row-cells.module.css';

/** What a row of a list shows: what it is, about whom, a word more, and when. On a phone these are two lines. */
export function RowCells({
  what,
  who,
  about,
  time,
}: {
  readonly what: ReactNode;
  readonly who: ReactNode;
  readonly about: ReactNode;
  readonly time: ReactNode;
}): ReactNode {
  return (
    <span className={cls(styles.row)}>
      <span className={cls(styles.what)}>{what}</span>
      <bdi className={cls(styles.who)}>{who}</bdi>
      <span className={cls(styles.about)}>{about}</span>
      <span className={cls(styles.time)}>{time}</span>
    </span>
  );
}
