import { useEffect, useState, useSyncExternalStore, type ReactNode } from 'react';
import { Button } from './button.tsx';
import { cls } from './class-names.ts';
import { currentNotices, dropNotice, subscribeToNotices, undoNotice, type Notice } from './notices.ts';
import styles from './toast.module.css';

/** In milliseconds: a sentence can be read twice. */
const SAID_FOR = 6_000;
/** In milliseconds: so long can what was done be taken back, and longer while somebody is at it. */
const UNDONE_WITHIN = 10_000;

/** What was just done, and the way back where there is one. */
export function Toasts(): ReactNode {
  const all = useSyncExternalStore(subscribeToNotices, currentNotices);
  return (
    <div role="status" className={cls(styles.toasts)}>
      {all.map((one) => (
        <Toast key={one.id} notice={one} />
      ))}
    </div>
  );
}

/** It goes by itself, but not from under the pointer or the focus. */
function Toast({ notice }: { readonly notice: Notice }): ReactNode {
  const { id, words, undo, isBusy } = notice;
  const [isPointedAt, setPointedAt] = useState(false);
  const [isFocused, setFocused] = useState(false);
  const isHeld = isPointedAt || isFocused || isBusy;
  const lasts = undo === null ? SAID_FOR : UNDONE_WITHIN;
  useEffect(() => {
    if (isHeld) return undefined;
    const timer = setTimeout(() => dropNotice(id), lasts);
    return () => clearTimeout(timer);
  }, [id, isHeld, lasts, words]);
  return (
    <div
      className={cls(styles.toast)}
      onPointerEnter={() => setPointedAt(true)}
      onPointerLeave={() => setPointedAt(false)}
      onFocus={() => setFocused(true)}
      onBlur={() => setFocused(false)}
    >
      <p>{words}</p>
      {undo !== null && (
        <Button isDisabled={isBusy} onPress={() => void undoNotice(id)}>
          Undo <kbd aria-hidden>z</kbd>
        </Button>
      )}
    </div>
  );
}
