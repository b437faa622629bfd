import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import type { Duration } from '@carillon/kernel';

/** Work that took less is followed by the next turn alone: a timer would wait longer than it. */
const SHORT: Duration = 2;
/** A process that is held up by something else lets nobody wait for longer. */
const LONGEST: Duration = 50;

/**
 * Pauses between steps of work for a large request. Each pause lasts twice as long as the preceding work, so that other
 * requests get two thirds of the process.
 */
export function createPauses(): () => Promise<void> {
  let began = performance.now();
  return async () => {
    const worked = performance.now() - began;
    await (worked < SHORT ? nextTurn() : pause(Math.min(2 * worked, LONGEST)));
    began = performance.now();
  };
}
