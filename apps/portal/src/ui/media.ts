import { useSyncExternalStore } from 'react';

/** Where a screen has room for one thing at a time; the same widths stand in the style sheets. */
export const NARROW = '(max-width: 899px)';

/** Whether a media query holds, now and when that changes. */
export function useMedia(query: string): boolean {
  return useSyncExternalStore(
    (listener) => {
      const list = matchMedia(query);
      list.addEventListener('change', listener);
      return () => list.removeEventListener('change', listener);
    },
    () => matchMedia(query).matches,
  );
}
