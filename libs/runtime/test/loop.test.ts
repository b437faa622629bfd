import { setTimeout as after } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { pause, startLoop } from '../src/index.ts';

const DAY = 86_400_000;
const never = (error: unknown): never => {
  throw error instanceof Error ? error : new Error(String(error));
};

describe('a loop', () => {
  it('runs a round at once, then again after its pause or after what the round asked for', async () => {
    let rounds = 0;
    const loop = startLoop(DAY, async () => (rounds += 1) && 5, never);
    await after(60);
    await loop.stop();
    expect(rounds).toBeGreaterThan(2);
    const quiet = startLoop(DAY, async () => void (rounds = 100), never);
    await after(20);
    await quiet.stop();
    expect(rounds).toBe(100);
  });

  it('goes on after a round that failed, and tells of it', async () => {
    const errors: unknown[] = [];
    const loop = startLoop(
      1,
      () => Promise.reject(new Error('away')),
      (error) => void errors.push(error),
    );
    await after(40);
    await loop.stop();
    expect(errors.length).toBeGreaterThan(1);
  });

  it('that is nudged, also in the midst of a round, runs once more at once', async () => {
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
    await after(60);
    expect(rounds).toBe(3);
    await loop.stop();
  });

  it('that is stopped lets its round end and begins no other', async () => {
    const story: string[] = [];
    const loop = startLoop(
      1,
      async () => {
        story.push('begins');
        await after(20);
        story.push('ends');
      },
      never,
    );
    await after(5);
    await Promise.all([loop.stop(), loop.stop()]);
    loop.nudge();
    await after(30);
    expect(story).toEqual(['begins', 'ends']);
  });
});

describe('a pause', () => {
  it('ends at once with its signal, before or after it began', async () => {
    const stop = new AbortController();
    const pausing = pause(DAY, stop.signal);
    stop.abort();
    await pausing;
    await pause(DAY, stop.signal);
    await pause(1);
  });
});
