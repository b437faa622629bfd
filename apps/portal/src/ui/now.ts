import { useSyncExternalStore } from 'react';

/** In milliseconds: how old "12 s ago" may be. */
const TICK = 5_000;
const listeners = new Set<() => void>();
let now = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    now = Date.now();
    for (const one of listeners) one();
  }, TICK);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** The time, one clock for the whole page; it moves every five seconds. */
export const useNow = (): number => useSyncExternalStore(subscribe, () => now);
