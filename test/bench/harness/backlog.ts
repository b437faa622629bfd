import { setTimeout as sleep } from 'node:timers/promises';
import type { Reading } from './bench.ts';

export type Backlog = {
  /** Puts so many more where they wait to be worked off. */
  readonly add: (count: number) => Promise<void>;
  /** How many have been worked off so far, over all rounds. */
  readonly done: () => number;
  readonly seconds: number;
};

/** Enough that nobody waits for more, and few enough that what is left at the end is soon done: so many, or half a second of it. */
const AHEAD = 600;
const AHEAD_SECONDS = 0.5;
const DONE_WITHIN = 120_000;

/** Work that runs by itself from what lies before it: more is added while the time lasts, and the round ends when all of it is done. */
export async function workOff({ add, done, seconds }: Backlog): Promise<Reading> {
  const before = done();
  const begun = performance.now();
  let added = 0;
  while (performance.now() - begun < seconds * 1000) {
    const rate = ((done() - before) * 1000) / (performance.now() - begun);
    const ahead = Math.max(AHEAD, Math.floor(rate * AHEAD_SECONDS));
    if (added - (done() - before) < ahead) {
      const atOnce = Math.floor(ahead / 3);
      await add(atOnce);
      added += atOnce;
    } else await sleep(2);
  }
  const late = performance.now() + DONE_WITHIN;
  while (done() - before < added) {
    if (performance.now() > late)
      throw new Error(`${added - (done() - before)} of ${added} were not done in two minutes`);
    await sleep(2);
  }
  return { done: added, seconds: (performance.now() - begun) / 1000 };
}
