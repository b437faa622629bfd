import { useEffect, useRef, type ReactNode } from 'react';
import { cls } from './class-names.ts';
import styles from './popup.module.css';

export type ChoicesProps = {
  readonly label: string;
  readonly choices: readonly { readonly id: string; readonly name: string; readonly note?: string }[];
  /** The one that Enter takes; the focus stays in the field above. */
  readonly chosen: string | null;
  readonly onChoose: (id: string) => void;
};

/** What fits what is typed into the field above it; arrows there move through it. */
export function Choices({ label, choices, chosen, onChoose }: ChoicesProps): ReactNode {
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => {
    list.current?.querySelector('[data-selected]')?.scrollIntoView({ block: 'nearest' });
  }, [chosen]);
  if (choices.length === 0) return <p role="status">No match.</p>;
  return (
    <ul ref={list} aria-label={label} className={cls(styles.choices)}>
      {choices.map(({ id, name, note }) => (
        <li key={id}>
          <button
            type="button"
            tabIndex={-1}
            className={cls(styles.item, styles.choice)}
            data-selected={id === chosen ? '' : undefined}
            aria-current={id === chosen ? 'true' : undefined}
            onClick={() => onChoose(id)}
          >
            {name}
            {note !== undefined && <small>{note}</small>}
          </button>
        </li>
      ))}
    </ul>
  );
}
