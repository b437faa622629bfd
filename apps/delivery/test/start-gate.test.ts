import type { LogId } from '@carillon/kernel';
import { describe, expect, it } from 'vitest';
import { createStartGate } from '../src/start-gate.ts';

const LOG = 'log_1' as LogId;

/** Ten receipts stand in partition 1, of which `read` have been read. */
async function given() {
  const place = { read: 4, now: 0 };
  const troubles: string[] = [];
  const startGate = await createStartGate({
    clock: { now: () => place.now },
    watch: { trouble: (_, error) => void troubles.push(String(error)) },
    log: {
      logId: LOG,
      partitions: () => 2,
      bounds: async (topic: string, partition: number) => ({
        start: 0,
        end: topic === 'carillon.receipts' && partition === 1 ? 10 : 0,
      }),
    },
    checkpoints: {
      load: async (group, topic, partition) =>
        topic === 'carillon.receipts' && partition === 1
          ? { group, topic, partition, logId: LOG, next: place.read, watermark: 0, configNumber: -1 }
          : null,
    },
  });
  return { place, troubles, ...startGate };
}

describe('the start gate of delivery', () => {
  it('is ready while it waits, checks often, and then opens', async () => {
    const { place, troubles, look, check, hasBegun } = await given();
    expect(await look()).toBe(100);
    expect(check()).toMatchObject({ ok: false, decides: false });
    place.read = 10;
    await look();
    expect([hasBegun(), check().ok, troubles]).toEqual([true, true, []]);
  });

  it('reports a stall after a minute once, becomes unready, and checks once a second', async () => {
    const { place, troubles, look, check, hasBegun } = await given();
    place.now = 59_999;
    await look();
    expect([troubles, check().decides]).toEqual([[], false]);
    place.now = 60_000;
    expect([await look(), await look()]).toEqual([1_000, 1_000]);
    expect(troubles).toEqual([expect.stringContaining('6 records of carillon.receipts/1 must be read first')]);
    expect(check()).toMatchObject({ ok: false, decides: true });
    expect(hasBegun()).toBe(false);
  });

  it('is ready again after the next record, and reports the next stall', async () => {
    const { place, troubles, look, check } = await given();
    place.now = 60_000;
    await look();
    place.read = 5;
    expect(await look()).toBe(100);
    expect(check()).toMatchObject({ ok: false, decides: false });
    place.now = 120_000;
    await look();
    expect(troubles).toHaveLength(2);
  });
});
