import { setTimeout as pause } from 'node:timers/promises';

/**
 * Repeats `look` until it returns a value. Throws with `what` after a generous deadline, so that a busy machine causes
 * no failure and success does not wait.
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
