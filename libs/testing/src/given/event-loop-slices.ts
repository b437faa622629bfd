import type { EventLoopSlice } from '@carillon/ports';

/** A turn of the event loop that lasts as long as the work: nothing is ever put off. */
export const neverYield: EventLoopSlice = { isExpired: () => false, yield: () => Promise.resolve() };

export type CountedSlices = EventLoopSlice & {
  /** Turns that have ended so far. */
  readonly ended: number;
};

/** Turns that are over as soon as somebody asks, so that work is put off wherever it may be; `between` runs in between. */
export function alwaysYield(between: () => void = () => undefined): CountedSlices {
  let ended = 0;
  return {
    isExpired: () => true,
    async yield() {
      ended += 1;
      between();
      await Promise.resolve();
    },
    get ended() {
      return ended;
    },
  };
}
