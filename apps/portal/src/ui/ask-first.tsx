import { useId, useLayoutEffect, useRef, type ReactNode } from 'react';
import { Button } from './button.tsx';
import { cls } from './class-names.ts';
import styles from './ask-first.module.css';
import { Actions } from './page.tsx';

/** What is asked before it is done. */
export type Asked = {
  readonly verb: string;
  /** What happens then, and to how many people. */
  readonly about: ReactNode;
  readonly isDanger?: boolean;
};

type Answers = { readonly isPending: boolean; readonly onDo: () => void; readonly onLeave: () => void };

/** Buttons, and in their place the question that one of them asks: Enter does it, Escape leaves it. */
export function AskFirst({
  asked,
  children,
  ...answers
}: Answers & {
  /** Null: nothing is asked, and the buttons stand there. */
  readonly asked: Asked | null;
  readonly children: ReactNode;
}): ReactNode {
  return (
    <>
      {/* They stay in the page: whichever had the focus gets it back. */}
      <div hidden={asked !== null}>{children}</div>
      {asked !== null && <Question asked={asked} {...answers} />}
    </>
  );
}

function Question({
  asked: { verb, about, isDanger = false },
  isPending,
  onDo,
  onLeave,
}: Answers & { readonly asked: Asked }): ReactNode {
  const id = useId();
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const { current } = box;
    const before = document.activeElement;
    return () => {
      if (current?.contains(document.activeElement) !== true || !(before instanceof HTMLElement)) return;
      requestAnimationFrame(() => before.isConnected && before.focus());
    };
  }, []);
  // One key from here, also where another question takes the place of this one.
  useLayoutEffect(() => box.current?.querySelector<HTMLElement>('button:last-of-type')?.focus(), [verb]);
  return (
    <div
      ref={box}
      role="group"
      aria-label="Confirmation"
      className={cls(styles.question)}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        // What is open around it stays open.
        event.preventDefault();
        onLeave();
      }}
    >
      <p id={id}>{about}</p>
      <Actions>
        <Button isDisabled={isPending} onPress={onLeave}>
          Cancel <kbd aria-hidden>Esc</kbd>
        </Button>
        <Button kind={isDanger ? 'danger' : 'main'} aria-describedby={id} isDisabled={isPending} onPress={onDo}>
          {verb} <kbd aria-hidden>Enter</kbd>
        </Button>
      </Actions>
    </div>
  );
}
