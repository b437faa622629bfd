import { lazy, Suspense, useState, type ReactNode } from 'react';
import { Button } from 'react-aria-components';
import { cls } from './class-names.ts';
import { earlyPress } from './early-press.ts';
import { useLetters } from './use-letter.ts';
import styles from './popup.module.css';

export type MenuChoice = {
  readonly id: string;
  readonly name: string;
  /** What stands at the other end of the line. */
  readonly note?: string;
};

export type MenuProps = {
  readonly label: string;
  readonly trigger: ReactNode;
  readonly choices: readonly MenuChoice[];
  /** Which of them holds now, where one does. */
  readonly chosen?: string;
  /** Stands in a line of text, such as beside the label of a field. */
  readonly isSmall?: boolean;
  /** A key that opens it. */
  readonly letter?: string;
  readonly onChoose: (id: string) => void;
};

const MenuNow = lazy(async () => ({ default: (await import('./menu-now.tsx')).MenuNow }));

/**
 * Things to do, or to go to, behind one button. What opens it comes after the page: it is a tenth of what a first visit loads. A press
 * that began before that opens it as soon as it is there, and the focus stays on the button.
 */
export function Menu(props: MenuProps): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const [hasFocus, setFocus] = useState(false);
  useLetters(props.letter ?? '', () => setOpen(true));
  const early = (
    <Button
      aria-label={props.label}
      aria-haspopup="menu"
      className={cls(styles.trigger, props.isSmall === true && styles.small)}
      {...earlyPress(() => setOpen(true))}
      onFocusChange={setFocus}
    >
      {props.trigger}
    </Button>
  );
  return (
    <Suspense fallback={early}>
      <MenuNow {...props} isOpen={isOpen} onOpenChange={setOpen} hasFocusAtFirst={hasFocus} />
    </Suspense>
  );
}
