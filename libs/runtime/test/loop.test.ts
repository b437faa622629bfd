import { setTimeout as after } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { pause, startLoop } from '../src/index.ts';

const DAY = 86_400_000;
const never = (error: unknown): never => {
  throw error instanceof Error ? error : new Error(String(error));
};

describe('a loop', () => {
  it('runs a round at once, and again after its pause or the pause that the round returned', async () => {
    let rounds = 0;
    const loop = startLoop(DAY, async () => (rounds += 1) && 5, never);
    await expect.poll(() => rounds).toBeGreaterThan(2);
    await loop.stop();
    const quiet = startLoop(DAY, async () => void (rounds = 100), never);
    await expect.poll(() => rounds).toBe(100);
    await quiet.stop();
  });

  it('continues after a failed round, and reports the error', async () => {
    const errors: unknown[] = [];
    const loop = startLoop(
      1,
      () => Promise.reject(new Error('away')),
      (error) => void errors.push(error),
    );
    await expect.poll(() => errors.length).toBeGreaterThan(1);
    await loop.stop();
  });

  it('that is nudged, also during a round, runs once more at once', async () => {
    let rounds = 0;
    let nudge: () => void = () => undefined;
    const loop = startLoop(
      DAY,
      async () => {
        rounds += 1;
        if (rounds === 2) nudge();
        await after(5);
      },
      never,
    );
    nudge = () => loop.nudge();
    await after(20);
    expect(rounds).toBe(1);
    loop.nudge();
    await expect.poll(() => rounds).toBe(3);
    await after(20);
    expect(rounds).toBe(3);
    await loop.stop();
  });

  it('that is stopped lets its round end, and starts no other', async () => {
    const story: string[] = [];
    const [begun, ending] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const loop = startLoop(
      1,
      async () => {
        story.push('begins');
        begun.resolve();
        await ending.promise;
        story.push('ends');
      },
      never,
    );
    await begun.promise;
    const stopped = Promise.all([loop.stop(), loop.stop()]);
    ending.resolve();
    await stopped;
    loop.nudge();
    await after(30);
    expect(story).toEqual(['begins', 'ends']);
  });
});

describe('a pause', () => {
  it('ends when its signal aborts, before or after it started', async () => {
    const stop = new AbortController();
    const pausing = pause(DAY, stop.signal);
    stop.abort();
    await pausing;
    await pause(DAY, stop.signal);
    await pause(1);
  });
});
