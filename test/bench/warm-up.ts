import type { Round } from './harness/bench.ts';

/** Until V8 has compiled what is hot: a gateway that has just been started is three to four times as slow. */
const WARM_UP = 10;

/** How long a side works in this round: the one to warm up is longer than that of work that runs in this process. */
export const secondsOf = ({ number, seconds }: Round): number => (number === 0 ? Math.max(seconds, WARM_UP) : seconds);
