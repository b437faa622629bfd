import {
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
  type KeyboardEvent,
  type MouseEvent,
  type ReactNode,
} from 'react';
import { createPortal } from 'react-dom';
import { cls } from './class-names.ts';
import styles from './dialog.module.css';

export type DialogProps = {
  readonly title: string;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly children: ReactNode;
  /** Buttons, the main one last. */
  readonly foot?: ReactNode;
  /** Only its buttons end it: what it shows is shown once. */
  readonly isLocked?: boolean;
};

/** A question, or a short path with an end. Focus goes in and comes back to where it was. */
export const Dialog = (props: DialogProps): ReactNode => props.isOpen && <OpenDialog {...props} />;

type Key = Pick<KeyboardEvent, 'key' | 'defaultPrevented' | 'preventDefault' | 'stopPropagation'>;

/** Makes the rest of the page inert while `veil` is in it, and returns a function that undoes it. */
function coverPage(veil: HTMLElement): () => void {
  const covered = [...document.body.children].filter(
    (element): element is HTMLElement => element instanceof HTMLElement && element !== veil && !element.inert,
  );
  for (const element of covered) element.inert = true;
  const { overflow } = document.documentElement.style;
  document.documentElement.style.overflow = 'hidden';
  return () => {
    for (const element of covered) element.inert = false;
    document.documentElement.style.overflow = overflow;
  };
}

function OpenDialog({ title, onClose, children, foot, isLocked = false }: DialogProps): ReactNode {
  const id = useId();
  const veil = useRef<HTMLDivElement>(null);
  const sheet = useRef<HTMLElement>(null);
  const [isTyped, setTyped] = useState(false);
  // Read before a field of the dialog takes the focus.
  const [opener] = useState(() => document.activeElement);
  /** Whether a press began beside the sheet: one that only ends there selects text. */
  const isPressedBeside = useRef(false);
  const hearKey = useRef(hear);
  useEffect(() => {
    hearKey.current = hear;
  });
  useLayoutEffect(() => {
    const { current: dialog } = sheet;
    if (!veil.current || !dialog) return;
    const { current: cover } = veil;
    const uncover = coverPage(cover);
    // Past its last field the browser focuses the page itself, whose keys are the dialog's too.
    const hearPage = (event: globalThis.KeyboardEvent): void => {
      if (event.target === document.body && !cover.inert) hearKey.current(event);
    };
    document.addEventListener('keydown', hearPage, true);
    if (!dialog.contains(document.activeElement)) dialog.focus({ preventScroll: true });
    return () => {
      document.removeEventListener('keydown', hearPage, true);
      uncover();
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus({ preventScroll: true });
    };
  }, [opener]);
  const isBeside = ({ target, currentTarget }: MouseEvent): boolean => target === currentTarget;
  function hear(event: Key): void {
    if (event.key !== 'Escape' || event.defaultPrevented || isLocked) return;
    event.preventDefault();
    event.stopPropagation();
    onClose();
  }
  return createPortal(
    <div
      ref={veil}
      className={cls(styles.veil)}
      onKeyDown={hear}
      // The focus stays in the dialog.
      onMouseDown={(event) => isBeside(event) && event.preventDefault()}
      onPointerDown={(event) => (isPressedBeside.current = isBeside(event))}
      onClick={(event) => {
        // A press beside the dialog must not lose what was typed in it.
        if (isBeside(event) && isPressedBeside.current && !isLocked && !isTyped) onClose();
      }}
    >
      <section
        ref={sheet}
        role="dialog"
        aria-modal="true"
        aria-labelledby={id}
        tabIndex={-1}
        className={cls(styles.sheet, styles.dialog)}
      >
        <h2 id={id}>{title}</h2>
        <div className={cls(styles.content)} onInput={() => setTyped(true)}>
          {children}
        </div>
        {foot !== undefined && <div className={cls(styles.foot)}>{foot}</div>}
      </section>
    </div>,
    document.body,
  );
}
