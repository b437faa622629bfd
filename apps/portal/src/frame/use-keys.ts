import { useEffect, useRef } from 'react';
import { undoNewest } from '../ui/notices.ts';
import { isCommand } from '../ui/use-letter.ts';

export type KeyActions = {
  readonly palette: () => void;
  readonly help: () => void;
  /** After `g`. */
  readonly go: (key: string) => void;
};

/** In milliseconds: so long does `g` wait for the key after it. */
const WAITS = 1_500;

/** The keys that count on every screen. */
export function useKeys(actions: KeyActions): void {
  const current = useRef(actions);
  useEffect(() => {
    current.current = actions;
  });
  useEffect(() => {
    let went = 0;
    // Before any screen hears it: after `g` a letter is no key of theirs. Tab, Enter, the space bar and the like do what they always do.
    const hearFirst = (event: KeyboardEvent): void => {
      const afterG = Date.now() - went < WAITS;
      went = 0;
      if (!afterG || !isCommand(event) || event.key.length !== 1 || event.key === ' ') return;
      event.preventDefault();
      event.stopPropagation();
      current.current.go(event.key);
    };
    const hear = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() === 'k' && (event.metaKey || event.ctrlKey)) {
        event.preventDefault();
        current.current.palette();
        return;
      }
      if (!isCommand(event)) return;
      if (event.key === 'g') {
        went = Date.now();
      } else if (event.key === '?') {
        current.current.help();
      } else if (event.key === 'z') {
        undoNewest();
      } else if (event.key === '/') {
        const search = document.querySelector<HTMLElement>('[data-search] input');
        if (!search) return;
        event.preventDefault();
        search.focus();
      } else if (event.key === 'j' || event.key === 'k') {
        // In a list they move; from elsewhere they lead into it.
        document.querySelector<HTMLElement>('main [data-key][tabindex="0"]')?.focus();
      }
    };
    document.addEventListener('keydown', hearFirst, true);
    document.addEventListener('keydown', hear);
    return () => {
      document.removeEventListener('keydown', hearFirst, true);
      document.removeEventListener('keydown', hear);
    };
  }, []);
}
