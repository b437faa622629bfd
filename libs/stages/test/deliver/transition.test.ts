import { readFile, glob } from 'node:fs/promises';
import { join } from 'node:path';
import type { Delivery } from '@carillon/domain/deliveries';
import { deliveryOf, outcomeOf } from '@carillon/testing';
import { openTopology, type Topology } from '@carillon/testing/topology';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { publishTogether, rewriteDelivery, transitionAndPublish } from '../../src/index.ts';

let topology: Topology;
let appends: number[];
beforeEach(async () => {
  topology = await openTopology({ partitions: 1 });
  appends = [];
});
afterEach(() => topology.close());

/** Ports whose log counts the records of each append. */
const ports = () => {
  const { log } = topology.data;
  const append: typeof log.append = (records) => {
    appends.push(records.length);
    return log.append(records);
  };
  return { ...topology.ports, log: { ...log, append } };
};
const read = (id: Delivery['id']) => topology.data.ledger.get(id);
const logged = async () => (await topology.records('carillon.outcomes')).length;

async function waiting(): Promise<Delivery> {
  const delivery = deliveryOf();
  await topology.data.ledger.insert([delivery]);
  return delivery;
}
const sent = (before: Delivery): Delivery => ({
  ...before,
  version: before.version + 1,
  state: 'SENT',
  nextAt: null,
  unpublished: [outcomeOf(before)],
});

describe('a state change of a delivery', () => {
  it('publishes its outcome on the log, and then removes the outcome from the document', async () => {
    const delivery = await waiting();
    const moved = await transitionAndPublish(sent(delivery), ports());
    await moved?.published;
    expect(await logged()).toBe(1);
    expect(await read(delivery.id)).toMatchObject({ state: 'SENT', unpublished: [] });
  });

  it('publishes its outcome even if the caller does not wait for it', async () => {
    const delivery = await waiting();
    await transitionAndPublish(sent(delivery), ports());
    await expect.poll(logged).toBe(1);
    await expect.poll(async () => (await read(delivery.id))?.unpublished).toEqual([]);
  });

  it('publishes nothing if another worker has changed the document', async () => {
    const delivery = await waiting();
    const next = sent(delivery);
    const moved = await Promise.all([transitionAndPublish(next, ports()), transitionAndPublish(next, ports())]);
    const winners = moved.filter((one) => one !== null);
    expect(winners).toHaveLength(1);
    await winners[0]?.published;
    expect(await logged()).toBe(1);
  });

  it('is kept while the log is unavailable, with its outcome in the document', async () => {
    const delivery = await waiting();
    const log = { ...topology.data.log, append: () => Promise.reject(new Error('away')) };
    const moved = await transitionAndPublish(sent(delivery), { ...topology.ports, log });
    await expect(moved?.published).rejects.toThrow('away');
    expect(await read(delivery.id)).toMatchObject({ state: 'SENT', unpublished: [{ deliveryId: delivery.id }] });
  });
});

describe('state changes of a batch of deliveries', () => {
  it('publish their outcomes in one append when the batch ends', async () => {
    const deliveries = [await waiting(), await waiting(), await waiting()];
    await publishTogether(ports(), async (batch) => {
      for (const delivery of deliveries) await transitionAndPublish(sent(delivery), ports(), { batch });
      expect(appends).toEqual([]);
    });
    expect(appends).toEqual([3]);
    for (const { id } of deliveries) expect((await read(id))?.unpublished).toEqual([]);
  });

  it('publish their outcomes also if the batch fails', async () => {
    const delivery = await waiting();
    const failing = publishTogether(ports(), async (batch) => {
      await transitionAndPublish(sent(delivery), ports(), { batch });
      throw new Error('the next record cannot be written');
    });
    await expect(failing).rejects.toThrow('the next record');
    expect(appends).toEqual([1]);
  });
});

describe('a change of a delivery without an outcome', () => {
  it('is written only if the document is unchanged since it was read (compare-and-set)', async () => {
    const delivery = await waiting();
    const next = { ...delivery, version: delivery.version + 1, leaseUntil: 5 };
    expect(await rewriteDelivery(delivery, next, topology.data.ledger)).toBe('done');
    expect(await rewriteDelivery(delivery, next, topology.data.ledger)).toBe('stale');
  });

  it('is refused if it would make an outcome', async () => {
    const delivery = await waiting();
    await expect(rewriteDelivery(delivery, sent(delivery), topology.data.ledger)).rejects.toThrow(
      'transitionAndPublish',
    );
    expect(await read(delivery.id)).toEqual(delivery);
  });

  it('is, beside a state change, the only way to write a stored delivery', async () => {
    const root = join(import.meta.dirname, '../../../..');
    const writers: string[] = [];
    for await (const file of glob('{libs/{stages,insight,runtime},apps/*}/src/**/*.ts', { cwd: root })) {
      if (/ledger\??\s*\.replace\(/.test(await readFile(join(root, file), 'utf8'))) writers.push(file);
    }
    expect(writers.toSorted()).toEqual([
      'libs/stages/src/deliver/outcomes.ts',
      'libs/stages/src/deliver/transition.ts',
    ]);
  });
});
