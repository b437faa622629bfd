import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createTurns } from '../src/index.ts';

describe('turns of the event loop', () => {
  it('let one waiter go on in each, in their order, so that many who wait are as fair as one', async () => {
    const turns = createTurns(0);
    const order: string[] = [];
    const first = turns.next().then(() => order.push('first'));
    const second = turns.next().then(() => order.push('second'));
    const between = nextTurn().then(() => order.push('somebody else'));
    await Promise.all([first, second, between]);
    expect(order).toEqual(['first', 'somebody else', 'second']);
  });

  it('are over once they have lasted as long as they may, and begin anew', async () => {
    const turns = createTurns(1_000_000);
    expect(turns.isOver()).toBe(false);
    expect(createTurns(0).isOver()).toBe(true);
    await turns.next();
    expect(turns.isOver()).toBe(false);
  });
});
