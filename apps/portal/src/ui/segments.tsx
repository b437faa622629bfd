import type { KeyboardEvent, ReactNode } from 'react';
import { cls } from './class-names.ts';
import styles from './segments.module.css';

/** Keys that move the focus, by how many options. */
const STEPS: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

/** Moves the focus among the buttons of the group. Enter and the space bar then choose. */
function moveFocus(event: KeyboardEvent<HTMLElement>): void {
  const step = STEPS[event.key];
  if (step === undefined) return;
  event.preventDefault();
  const buttons = [...event.currentTarget.querySelectorAll('button')];
  const at = buttons.findIndex((button) => button === document.activeElement);
  buttons[Math.min(Math.max(at + step, 0), buttons.length - 1)]?.focus();
}

/** Two or three views of one thing, of which one is shown. */
export function Segments<Id extends string>({
  label,
  options,
  chosen,
  onChoose,
}: {
  readonly label: string;
  readonly options: readonly { readonly id: Id; readonly name: string }[];
  readonly chosen: Id;
  readonly onChoose: (id: Id) => void;
}): ReactNode {
  return (
    <div role="radiogroup" aria-label={label} className={cls(styles.group)} onKeyDown={moveFocus}>
      {options.map(({ id, name }) => (
        <button
          key={id}
          type="button"
          role="radio"
          aria-checked={id === chosen}
          tabIndex={id === chosen ? 0 : -1}
          className={cls(styles.one)}
          onClick={() => id !== chosen && onChoose(id)}
        >
          {name}
        </button>
      ))}
    </div>
  );
}
