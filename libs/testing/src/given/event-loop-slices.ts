import type { EventLoopSlice } from '@carillon/ports';

/** A slice that never expires. */
export const neverYield: EventLoopSlice = { isExpired: () => false, yield: () => Promise.resolve() };

export type CountedSlices = EventLoopSlice & {
  /** Turns that have ended so far. */
  readonly ended: number;
};

/** Creates a slice that has always expired, so that work yields wherever it can. `between` runs at each yield. */
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
