import { setImmediate as nextTurn } from 'node:timers/promises';
import type { LogId } from '@carillon/kernel';
import type { NewRecord } from '@carillon/ports';
import { Progress } from '@carillon/runtime';
import { createMemoryLog, createDirectWire } from '@carillon/testing/memory';
import { describe, expect, it } from 'vitest';
import { createPacing } from '../../src/sources/pacing.ts';

const PARTITIONS = 2;
const LOG_ID = 'log_00000000000000000000000001' as LogId;

const eventsOf = (count: number): NewRecord[] =>
  Array.from({ length: count }, (_, at) => ({
    topic: 'carillon.events',
    partition: at % PARTITIONS,
    key: 'key',
    value: new Uint8Array(),
    headers: {},
  }));

function open() {
  let now = 1_000_000;
  const memory = createMemoryLog({ logId: LOG_ID, partitions: PARTITIONS, now: () => now });
  const log = memory.connect(createDirectWire());
  const progress = new Progress();
  const pacing = createPacing({ log, progress, clock: { now: () => now } });
  return {
    progress,
    pacing,
    pass: (ms: number): void => void (now += ms),
    append: (count: number) => log.append(eventsOf(count)),
    read: async (count: number): Promise<void> => {
      const events = eventsOf(count);
      await log.append(events);
      await pacing.keepTo(events);
    },
  };
}

describe('the pace of a source', () => {
  it('takes 300 changes at a time while nobody else sends events, and 50 for five seconds after others did', async () => {
    const { pacing, read, append, pass } = open();
    await read(100);
    await read(100);
    expect(pacing.mostChanges()).toBe(300);
    await append(1);
    await read(100);
    expect(pacing.mostChanges()).toBe(50);
    pass(4_999);
    expect(pacing.mostChanges()).toBe(50);
    pass(1);
    expect(pacing.mostChanges()).toBe(300);
  });

  it('does not take its own small batches for events of others', async () => {
    const { pacing, read } = open();
    await read(100);
    await read(20);
    await read(100);
    expect(pacing.mostChanges()).toBe(300);
  });

  it('waits until a large batch is evaluated, and beside others until a small one is', async () => {
    const { progress, read, append } = open();
    const waited: string[] = [];
    const evaluate = (next: number): void => {
      for (let partition = 0; partition < PARTITIONS; partition += 1) progress.reached(partition, next);
    };
    evaluate(0);
    await read(20);
    const large = read(100).then(() => waited.push('large'));
    await nextTurn();
    expect(waited).toEqual([]);
    evaluate(60);
    await large;
    await append(2);
    const beside = read(100);
    evaluate(111);
    await beside;
    const small = read(20).then(() => waited.push('small'));
    await nextTurn();
    expect(waited).toEqual(['large']);
    evaluate(121);
    await small;
  });

  it('does not wait for a stopped partition', async () => {
    const { progress, read } = open();
    progress.reached(0, 0);
    await read(30);
  });
});
