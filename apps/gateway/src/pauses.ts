import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import type { Duration } from '@carillon/kernel';

/** Work that took less is followed by the next turn alone: a timer would wait longer than it. */
const SHORT: Duration = 2;
/** A process that is held up by something else lets nobody wait for longer. */
const LONGEST: Duration = 50;

/**
 * Rests between steps of work for one large request: each lasts twice as long as the work since the one before, so that two
 * thirds of the process are left to everybody else while it is read.
 */
export function createPauses(): () => Promise<void> {
  let began = performance.now();
  return async () => {
    const worked = performance.now() - began;
    await (worked < SHORT ? nextTurn() : pause(Math.min(2 * worked, LONGEST)));
    began = performance.now();
  };
}
