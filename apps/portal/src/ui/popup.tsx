import {
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
} from 'react';
import { createPortal } from 'react-dom';
import { cls } from './class-names.ts';
import styles from './popup.module.css';
import { TypedWord } from './typed-word.ts';

export type PopupItem = {
  readonly id: string;
  readonly name: string;
  /** What stands at the other end of the line. */
  readonly note?: string;
};

/** Pixels between the popup and its button, and between the popup and the window. */
const GAP = 8;

const NO_FOCUS = { preventScroll: true } as const;

/** Below the button, or above it if only there is more room; inside the window in any case. */
function place(popup: HTMLElement, button: HTMLElement): void {
  const { top, bottom, left, width } = button.getBoundingClientRect();
  popup.style.minWidth = `${width}px`;
  const below = innerHeight - bottom - 2 * GAP;
  const above = top - 2 * GAP;
  const isBelow = popup.offsetHeight <= below || below >= above;
  popup.style.maxHeight = `min(420px, 70vh, ${Math.max(isBelow ? below : above, 0)}px)`;
  popup.style.top = `${isBelow ? bottom + GAP : top - GAP - popup.offsetHeight}px`;
  popup.style.left = `${Math.max(GAP, Math.min(left, innerWidth - popup.offsetWidth - GAP))}px`;
}

/**
 * The list that a button opens: a menu, or the options of a select. Arrows, Home, End and the first letters of a name move the focus,
 * Enter and the space bar choose. Escape, Tab and a press beside it close it. It follows its button when the page scrolls.
 */
export function Popup({
  kind,
  id,
  label,
  button,
  items,
  chosen,
  onChoose,
  onClose,
}: {
  readonly kind: 'menu' | 'listbox';
  readonly id: string;
  readonly label: string;
  readonly button: RefObject<HTMLButtonElement | null>;
  readonly items: readonly PopupItem[];
  readonly chosen?: string | null | undefined;
  readonly onChoose: (id: string) => void;
  readonly onClose: () => void;
}): ReactNode {
  const list = useRef<HTMLDivElement>(null);
  const [typed] = useState(() => new TypedWord());
  // A menu of the frame stays within its landmark, so that a screen reader says where it belongs.
  const [parent] = useState(() => button.current?.closest('nav, header') ?? document.body);
  // Not the button if a letter opened it.
  const [opener] = useState(() => document.activeElement);
  const close = useRef(onClose);
  useEffect(() => {
    close.current = onClose;
  });
  useLayoutEffect(() => {
    const { current: popup } = list;
    if (!popup || !button.current) return;
    place(popup, button.current);
    const first = popup.querySelector<HTMLElement>('[data-selected]') ?? popup.querySelector<HTMLElement>('[role]');
    first?.focus(NO_FOCUS);
    first?.scrollIntoView({ block: 'nearest' });
  }, [button]);
  useEffect(() => {
    const isInside = ({ target: pressed }: Event): boolean =>
      pressed instanceof Node &&
      (list.current?.contains(pressed) === true || button.current?.contains(pressed) === true);
    const leave = (event: Event): void => {
      if (!isInside(event)) close.current();
    };
    const resize = (): void => close.current();
    // The page also scrolls by itself, for example when a list restores its position.
    const follow = (event: Event): void => {
      if (!isInside(event) && list.current && button.current) place(list.current, button.current);
    };
    document.addEventListener('pointerdown', leave, true);
    document.addEventListener('scroll', follow, true);
    window.addEventListener('resize', resize);
    return () => {
      document.removeEventListener('pointerdown', leave, true);
      document.removeEventListener('scroll', follow, true);
      window.removeEventListener('resize', resize);
    };
  }, [button]);

  function end(): void {
    const hadFocus = opener instanceof HTMLElement && opener !== document.body && opener.isConnected;
    (hadFocus ? opener : button.current)?.focus(NO_FOCUS);
    onClose();
  }
  function choose(item: PopupItem): void {
    end();
    onChoose(item.id);
  }
  /** The index that a key leads to, from the index of the focus. -1 if no name begins with the typed letters. */
  function target(key: string, at: number, now: number): number | undefined {
    const move = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[key];
    if (move === undefined) return typed.find(items, key, now);
    typed.clear();
    return (move + items.length) % items.length;
  }
  function hear(event: KeyboardEvent<HTMLElement>): void {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    // No key of an open list is one of the page or of the dialog around it.
    event.stopPropagation();
    const rows = [...(list.current?.children ?? [])] as HTMLElement[];
    const at = rows.findIndex((row) => row === document.activeElement);
    const to = target(event.key, at, event.timeStamp);
    const item = items[at];
    if (to !== undefined) rows[to]?.focus();
    else if (event.key === 'Escape') end();
    else if ((event.key === 'Enter' || event.key === ' ') && item) choose(item);
    else if (event.key === 'Tab') return end();
    else return;
    event.preventDefault();
  }

  const isSingle = chosen !== undefined;
  const role = kind === 'listbox' ? 'option' : isSingle ? 'menuitemradio' : 'menuitem';
  return createPortal(
    <div
      ref={list}
      id={id}
      role={kind}
      aria-label={label}
      tabIndex={-1}
      className={cls(styles.popover, styles.open)}
      onKeyDown={hear}
    >
      {items.map((item) => {
        const isChosen = isSingle && item.id === chosen;
        const state = kind === 'listbox' ? { 'aria-selected': isChosen } : isSingle && { 'aria-checked': isChosen };
        return (
          <div
            key={item.id}
            role={role}
            tabIndex={-1}
            className={cls(styles.item)}
            data-selected={isChosen ? '' : undefined}
            onClick={() => choose(item)}
            {...state}
          >
            {item.name}
            {item.note !== undefined && <small>{item.note}</small>}
          </div>
        );
      })}
    </div>,
    parent,
  );
}

/** State of a button that opens a popup, and what the button needs. */
export function usePopup(kind: 'menu' | 'listbox', id: string) {
  const button = useRef<HTMLButtonElement>(null);
  const [isOpen, setOpen] = useState(false);
  return {
    button,
    isOpen,
    setOpen,
    props: {
      ref: button,
      type: 'button',
      'aria-haspopup': kind,
      'aria-expanded': isOpen,
      'aria-controls': isOpen ? id : undefined,
      onClick: () => setOpen(!isOpen),
      onKeyDown(event: KeyboardEvent<HTMLElement>): void {
        if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
        event.preventDefault();
        setOpen(true);
      },
    },
  } as const;
}
