import type { Delivery } from '@carillon/domain/deliveries';
import type { NewRecord } from '@carillon/ports';
import { deliveryOf, outcomeOf } from '@carillon/testing';
import { openTopology, type Topology } from '@carillon/testing/topology';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { publishInBatches } from '../../src/deliver/publisher.ts';

let topology: Topology;
beforeEach(async () => {
  topology = await openTopology({ partitions: 1 });
});
afterEach(() => topology.close());

async function moved(): Promise<Delivery> {
  const plain = deliveryOf({ state: 'SENT', nextAt: null });
  const delivery = { ...plain, unpublished: [outcomeOf(plain)] };
  await topology.data.ledger.insert([delivery]);
  return delivery;
}
const left = async (deliveries: readonly Delivery[]): Promise<number> => {
  const now = await Promise.all(deliveries.map(({ id }) => topology.data.ledger.get(id)));
  return now.filter((one) => one === null || one.unpublished.length > 0).length;
};

/** A log whose appends end one by one, as the test says. */
function slowLog() {
  const begun: { readonly records: readonly NewRecord[]; end(): void; fail(): void }[] = [];
  const { log } = topology.data;
  const append = async (records: readonly NewRecord[]): Promise<readonly number[]> => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    begun.push({ records, end: resolve, fail: () => reject(new Error('the log is away')) });
    await promise;
    return log.append(records);
  };
  return { begun, log: { ...log, append } };
}

describe('outcomes of deliveries that are published on the log', () => {
  it('are appended at once, and those that arrive during an append share the next append', async () => {
    const { begun, log } = slowLog();
    const ports = { ...topology.ports, log };
    const publish = (delivery: Delivery) => publishInBatches(delivery, ports);
    const [first, ...others] = [await moved(), await moved(), await moved(), await moved()];
    const told = publish(first);
    const toldLater = others.map(publish);
    await expect.poll(() => begun.map(({ records }) => records.length)).toEqual([1]);
    begun[0]?.end();
    await told;
    await expect.poll(() => begun.map(({ records }) => records.length)).toEqual([1, 3]);
    begun[1]?.end();
    await Promise.all(toldLater);
    expect(await left([first, ...others])).toBe(0);
    expect(await topology.records('carillon.outcomes')).toHaveLength(4);
  });

  it('stay in their documents for the sweeper while the log is unavailable, and later outcomes are appended', async () => {
    const { begun, log } = slowLog();
    const ports = { ...topology.ports, log };
    const publish = (delivery: Delivery) => publishInBatches(delivery, ports);
    const [first, second] = [await moved(), await moved()];
    const told = publish(first);
    const toldLater = publish(second);
    await expect.poll(() => begun).toHaveLength(1);
    begun[0]?.fail();
    await expect(told).rejects.toThrow('the log is away');
    await expect.poll(() => begun).toHaveLength(2);
    begun[1]?.end();
    await toldLater;
    expect(await left([first])).toBe(1);
    expect(await left([second])).toBe(0);
  });

  it('cause no append if none are left to publish', async () => {
    const { begun, log } = slowLog();
    await publishInBatches(deliveryOf(), { ...topology.ports, log });
    expect(begun).toEqual([]);
  });
});
