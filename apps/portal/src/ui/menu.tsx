import { useId, type ReactNode } from 'react';
import { cls } from './class-names.ts';
import { Popup, usePopup, type PopupItem } from './popup.tsx';
import { useLetters } from './use-letter.ts';
import styles from './popup.module.css';

/** Things to do, or to go to, behind one button. */
export function Menu({
  label,
  trigger,
  choices,
  chosen,
  isSmall = false,
  letter = '',
  onChoose,
}: {
  readonly label: string;
  readonly trigger: ReactNode;
  readonly choices: readonly PopupItem[];
  /** Which of them holds now, where one does. */
  readonly chosen?: string;
  /** Stands in a line of text, such as beside the label of a field. */
  readonly isSmall?: boolean;
  /** A key that opens it. */
  readonly letter?: string;
  readonly onChoose: (id: string) => void;
}): ReactNode {
  const id = useId();
  const { button, isOpen, setOpen, props } = usePopup('menu', id);
  useLetters(letter, () => setOpen(true));
  return (
    <>
      <button {...props} aria-label={label} className={cls(styles.trigger, isSmall && styles.small)}>
        {trigger}
      </button>
      {isOpen && (
        <Popup
          kind="menu"
          id={id}
          label={label}
          button={button}
          items={choices}
          chosen={chosen}
          onChoose={onChoose}
          onClose={() => setOpen(false)}
        />
      )}
    </>
  );
}
