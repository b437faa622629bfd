import type { ReactNode } from 'react';
import { Button } from './button.tsx';
import { cls } from './class-names.ts';
import styles from './chosen-bar.module.css';
import { Unseen } from './text.tsx';

/**
 * Below a list: how many rows are chosen, and what can be done with all of them. It takes its room from the end of the list, so that no
 * row moves. Behind the rows in the order of the keyboard.
 */
export function ChosenBar({
  count,
  children,
  onClear,
}: {
  readonly count: number;
  /** A button for each action that all chosen rows allow; a sentence where none does. */
  readonly children: ReactNode;
  readonly onClear: () => void;
}): ReactNode {
  const words = `${count.toLocaleString('en')} chosen`;
  return (
    <>
      {/* There before it has words, or nobody would read them out. */}
      <Unseen>
        <span role="status">{count > 0 && words}</span>
      </Unseen>
      {count > 0 && (
        <section aria-label="Chosen rows" className={cls(styles.bar)}>
          <b aria-hidden>{words}</b>
          {children}
          <Button kind="quiet" onPress={onClear}>
            Choose none
          </Button>
        </section>
      )}
    </>
  );
}
