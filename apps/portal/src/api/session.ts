import { useSyncExternalStore } from 'react';

/** Something that is so or not, for all parts of the page at once. */
function createFlag(isSet: boolean): { readonly set: (now: boolean) => void; readonly use: () => boolean } {
  const listeners = new Set<() => void>();
  const subscribe = (listener: () => void): (() => void) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  };
  return {
    set(now) {
      if (isSet === now) return;
      isSet = now;
      for (const listener of listeners) listener();
    },
    use: () => useSyncExternalStore(subscribe, () => isSet),
  };
}

/** Whether the server takes this browser for somebody; it starts as true, and the first answer says. */
const signedIn = createFlag(true);
export const setSignedIn = signedIn.set;
export const useSignedIn = signedIn.use;

/** True while the server responds, with any status. */
const answering = createFlag(true);
export const setAnswering = answering.set;
export const useAnswering = answering.use;
