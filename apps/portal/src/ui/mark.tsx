import type { ReactNode } from 'react';
import { cls } from './class-names.ts';
import styles from './mark.module.css';

/** Something that is chosen or not, alone or as one of several of which one is: the browser's own mark, with what it means beside it. */
export function Mark({
  kind = 'checkbox',
  group,
  isChosen,
  isDisabled = false,
  onChange,
  children,
  note,
}: {
  readonly kind?: 'checkbox' | 'radio';
  /** Of a radio: those of one group exclude each other. */
  readonly group?: string;
  readonly isChosen: boolean;
  readonly isDisabled?: boolean;
  readonly onChange: (isChosen: boolean) => void;
  readonly children: ReactNode;
  readonly note?: ReactNode;
}): ReactNode {
  return (
    <label className={cls(styles.mark)}>
      <input
        type={kind}
        name={group}
        checked={isChosen}
        disabled={isDisabled}
        onChange={(event) => onChange(event.target.checked)}
      />
      <span>
        {children}
        {note !== undefined && <span className={cls(styles.note)}>{note}</span>}
      </span>
    </label>
  );
}
