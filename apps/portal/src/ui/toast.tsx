import { useSyncExternalStore, type ReactNode } from 'react';
import { cls } from './class-names.ts';
import styles from './toast.module.css';

/** In milliseconds: a sentence can be read twice. */
const SAID_FOR = 6_000;

type Said = { readonly id: number; readonly words: string };

let said: readonly Said[] = [];
let count = 0;
const listeners = new Set<() => void>();

function change(next: readonly Said[]): void {
  said = next;
  for (const listener of listeners) listener();
}

/** Says what was done, in a sentence that goes by itself. What went wrong stays where it happened instead. */
export function say(words: string): void {
  count += 1;
  const id = count;
  change([...said, { id, words }]);
  setTimeout(() => change(said.filter((one) => one.id !== id)), SAID_FOR);
}

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};

export function Toasts(): ReactNode {
  const all = useSyncExternalStore(subscribe, () => said);
  return (
    <div role="status" className={cls(styles.toasts)}>
      {all.map(({ id, words }) => (
        <p key={id} className={cls(styles.toast)}>
          {words}
        </p>
      ))}
    </div>
  );
}
