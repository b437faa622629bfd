import type { ReactNode } from 'react';
import { cls } from '../../../ui/class-names.ts';
import { labelOf, timeOf, waitsOf } from './steps.ts';
import type { ShownRows } from './step-table.tsx';
import styles from './timeline.module.css';

/** Rows that fit beside each other. */
const MAX_DOTS = 9;

/**
 * The rows as dots on a line, with a bar for each wait. It shows the table below once more, for people with a pointer, so it is hidden from
 * the keyboard and from readers.
 */
export function StepAxis({ rows, opened, onOpen, clock }: ShownRows): ReactNode {
  if (rows.length < 2 || rows.length > MAX_DOTS) return null;
  return (
    <div
      aria-hidden
      className={cls(styles.axis)}
      style={{ gridTemplateColumns: `repeat(${rows.length}, minmax(0, 1fr))` }}
    >
      {rows.map((row, place) => (
        <span key={place} className={cls(styles.moment)} style={{ gridColumn: place + 1 }}>
          <button
            type="button"
            tabIndex={-1}
            title={row.kind === 'event' ? labelOf(row.planned) : 'The deadline passes'}
            className={cls(
              styles.dot,
              row.kind === 'deadline' && styles.due,
              row.step?.fired === true && styles.fires,
              opened === place && styles.opened,
            )}
            onClick={() => onOpen(opened === place ? null : place)}
          />
          {clock(timeOf(row))}
        </span>
      ))}
      {waitsOf(rows).map(({ from, to, until }) => (
        <span
          key={from}
          className={cls(styles.wait)}
          style={{ gridColumn: `${from + 1} / ${(to ?? rows.length - 1) + 2}` }}
        >
          waits until {clock(until)}
        </span>
      ))}
    </div>
  );
}
