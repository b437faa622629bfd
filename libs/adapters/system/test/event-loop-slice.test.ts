import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createEventLoopSlice } from '../src/index.ts';

describe('slices of the event loop', () => {
  it('let one waiter continue per tick, in order, so that many waiters are as fair as one', async () => {
    const slice = createEventLoopSlice(0);
    const order: string[] = [];
    const first = slice.yield().then(() => order.push('first'));
    const second = slice.yield().then(() => order.push('second'));
    const between = nextTurn().then(() => order.push('somebody else'));
    await Promise.all([first, second, between]);
    expect(order).toEqual(['first', 'somebody else', 'second']);
  });

  it('expire after their maximum duration, and then start anew', async () => {
    const slice = createEventLoopSlice(1_000_000);
    expect(slice.isExpired()).toBe(false);
    expect(createEventLoopSlice(0).isExpired()).toBe(true);
    await slice.yield();
    expect(slice.isExpired()).toBe(false);
  });
});
