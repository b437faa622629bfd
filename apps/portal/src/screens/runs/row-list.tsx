import { ChevronDown, ChevronRight } from 'lucide-react';
import { useId, type ReactNode } from 'react';
import { Loading } from '../../ui/answers.tsx';
import { cls } from '../../ui/class-names.ts';
import { lazyPart, Part } from '../../ui/part.tsx';
import { Lamp } from '../../ui/state.tsx';
import { Time } from '../../ui/time.tsx';
import type { Run, RunRow } from './queries.ts';
import { addressText, DIFFERENCE_TONES, differenceText } from './run-text.ts';
import styles from './runs.module.css';

const RowContents = lazyPart(() => import('./row-contents.tsx').then(({ RowContents: loaded }) => loaded));

export type Opening = {
  /** Slot of the open row, or null. */
  readonly open: string | null;
  /** Called with the slot of the row to open, or with null to close the open row. */
  readonly onOpen: (slot: string | null) => void;
};

/** Rows of a run. A row opens below itself. */
export function RowList({
  run,
  rows,
  open,
  onOpen,
}: Opening & { readonly run: Run; readonly rows: readonly RunRow[] }): ReactNode {
  return (
    <ul aria-label="Messages" className={cls(styles.rows)}>
      {rows.map((row) => (
        <RowItem key={row.slot} run={run} row={row} isOpen={row.slot === open} onOpen={onOpen} />
      ))}
    </ul>
  );
}

function RowItem({
  run,
  row,
  isOpen,
  onOpen,
}: {
  readonly run: Run;
  readonly row: RunRow;
  readonly isOpen: boolean;
  readonly onOpen: Opening['onOpen'];
}): ReactNode {
  const id = useId();
  const Arrow = isOpen ? ChevronDown : ChevronRight;
  return (
    <li className={cls(styles.row)}>
      <button
        type="button"
        className={cls(styles.opener)}
        aria-expanded={isOpen}
        {...(isOpen && { 'aria-controls': id })}
        onClick={() => onOpen(isOpen ? null : row.slot)}
      >
        <Arrow size={16} aria-hidden />
        <RowFacts row={row} />
      </button>
      {isOpen && (
        <div id={id} className={cls(styles.opened)}>
          <Part loading={<Loading what="the message" rows={3} />}>
            <RowContents run={run} row={row} />
          </Part>
        </div>
      )}
    </li>
  );
}

/** The difference, the person, what the deliveries say, and the time of the event or the deadline. */
export function RowFacts({ row }: { readonly row: RunRow }): ReactNode {
  return (
    <span className={cls(styles.facts)}>
      <Lamp tone={DIFFERENCE_TONES[row.difference]}>
        {row.cold ? `${differenceText(row.difference)}, uncertain` : differenceText(row.difference)}
      </Lamp>
      <span className={cls(styles.person)}>
        <bdi>{row.person ?? 'Not known any more'}</bdi>
        <span className={cls(styles.about)}>
          {row.rule} by {row.channel}, to <bdi>{addressText(row)}</bdi>
        </span>
      </span>
      <span className={cls(styles.slot)}>{row.slot_state_words}</span>
      <Time at={row.at} />
    </span>
  );
}
