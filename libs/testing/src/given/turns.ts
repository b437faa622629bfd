import type { Turns } from '@carillon/ports';

/** A turn of the event loop that lasts as long as the work: nothing is ever put off. */
export const oneLongTurn: Turns = { isOver: () => false, next: () => Promise.resolve() };

export type CountedTurns = Turns & {
  /** Turns that have ended so far. */
  readonly ended: number;
};

/** Turns that are over as soon as somebody asks, so that work is put off wherever it may be; `between` runs in between. */
export function shortestTurns(between: () => void = () => undefined): CountedTurns {
  let ended = 0;
  return {
    isOver: () => true,
    async next() {
      ended += 1;
      between();
      await Promise.resolve();
    },
    get ended() {
      return ended;
    },
  };
}
