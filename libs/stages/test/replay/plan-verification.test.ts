import { VERIFIED_TOPICS } from '@carillon/domain/runs';
import { describe, expect, it } from 'vitest';
import { planVerification } from '../../src/index.ts';

const PARTITIONS = 8;

/** Resolves all its promises when as many wait as it expects. */
function gate(expected: number): () => Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let waiting = 0;
  return () => {
    waiting += 1;
    if (waiting === expected) resolve();
    return promise;
  };
}

describe('the plan of a verification (which log ranges are checked)', () => {
  it('reads the bounds of all partitions of all topics at once, after the positions of the engine', async () => {
    const positionsAsked = gate(2 * PARTITIONS);
    const boundsAsked = gate(VERIFIED_TOPICS.length * PARTITIONS);
    const order: string[] = [];
    const offsets = Array.from({ length: PARTITIONS }, (_, partition) => ({ partition, first: 0, end: 10 }));
    const plan = await planVerification(
      offsets,
      { from: 0 },
      {
        checkpoints: {
          async load(_group, topic, partition) {
            await positionsAsked();
            order.push('position');
            return { topic, partition, next: topic === 'carillon.events' ? partition : 3 } as never;
          },
        },
        log: {
          partitions: () => PARTITIONS,
          async bounds(_topic, partition) {
            order.push('bounds');
            await boundsAsked();
            return { start: 0, end: partition };
          },
          read: async (topic, partition, offset) => [{ topic, partition, offset, time: 5 } as never],
        },
      },
    );
    expect(order.lastIndexOf('position')).toBeLessThan(order.indexOf('bounds'));
    expect(plan.resolved).toEqual(Array.from({ length: PARTITIONS }, () => 3));
    // The engine has evaluated as many events of each partition as its number says.
    expect(plan.offsets).toEqual(offsets.slice(1).map((range) => ({ ...range, end: range.partition })));
    expect(plan.notEvaluated).toBe(52);
    expect(plan.others).toHaveLength(VERIFIED_TOPICS.length * (PARTITIONS - 1));
  });
});
