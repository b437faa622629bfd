import { useEffect, useRef } from 'react';
import { hasLetters } from './settings.ts';

/** What text is typed into: a box that is ticked, as that of a row, takes no letters. */
export const TEXT_FIELD = 'input:not([type="checkbox"]), textarea';

/** Whoever types means letters. */
export const isTyping = ({ target }: KeyboardEvent): boolean =>
  target instanceof HTMLElement && target.closest(`${TEXT_FIELD}, select, [contenteditable], [role="dialog"]`) !== null;

/** Whether a key may count as a command: nobody types, no other key is held, and whoever looks has not turned letters off. */
export const isCommand = (event: KeyboardEvent): boolean =>
  hasLetters() && !event.defaultPrevented && !event.metaKey && !event.ctrlKey && !event.altKey && !isTyping(event);

/** Does something when a key is pressed that writes a character, as long as the screen is shown. */
export const useLetter = (key: string, act: () => void): void => useLetters(key, act);

/** The same for each character of `keys`; `act` is told which. */
export function useLetters(keys: string, act: (key: string) => void): void {
  const current = useRef(act);
  useEffect(() => {
    current.current = act;
  });
  useEffect(() => {
    const hear = (event: KeyboardEvent): void => {
      if (event.key.length === 1 && keys.includes(event.key) && isCommand(event)) current.current(event.key);
    };
    document.addEventListener('keydown', hear);
    return () => document.removeEventListener('keydown', hear);
  }, [keys]);
}
