import { setTimeout as pause } from 'node:timers/promises';

/**
 * Asks again until the answer is there. Throws with `what` when it does not come in time, which is generous: a test that
 * fails on a busy machine tells nothing, and one that succeeds does not wait.
 */
export async function untilFound<T>(
  what: string,
  look: () => T | undefined | Promise<T | undefined>,
  within = 120_000,
): Promise<T> {
  const deadline = Date.now() + within;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (Date.now() > deadline) throw new Error(`not within ${within} ms: ${what}`);
    await pause(10);
  }
}
