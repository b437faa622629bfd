import { countingRules, ORDERS, orderShop, stream } from '@carillon/testing/given';
import { openTopology, untilFound, type Topology } from '@carillon/testing/topology';
import { createEvaluateStage } from '@carillon/stages';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { traceEvent } from '../../src/index.ts';

let topology: Topology;
beforeEach(async () => {
  topology = await openTopology({ partitions: 1 });
  await topology.publish(...orderShop(), stream('orders', { ...ORDERS, key: 'event.customer.email' }));
});
afterEach(() => topology.close());

describe('the story of an event that a rule with state saw', () => {
  it('has what the rule saw then, and does not judge it again', async () => {
    const happens = (order: string): Promise<string> =>
      topology.event({ status: 'paid', order_id: order, customer: { email: 'ada@example.com' } });
    const ids = [await happens('A-1'), await happens('A-2')];
    const book = countingRules(topology.ports.book);
    const records = await topology.records('carillon.events');
    const start = { partition: 0, configNumber: -1, watermark: 0 };
    const result = await createEvaluateStage({ ...topology.ports, book }).handle(records, start);
    await result.save?.();
    const { checkpoints, log } = topology.data;
    const done = { group: 'engine', topic: 'carillon.events', partition: 0, logId: log.logId };
    await checkpoints.save({ ...done, next: records.length, watermark: 0, configNumber: result.state.configNumber });
    await topology.projects();
    const lines = await untilFound('the story', async () => {
      const trace = await traceEvent(ids[1] ?? '', { ...topology.tracePorts, book });
      return trace?.steps.find(({ text }) => text === 'decided by what it keeps of the entity')?.lines;
    });
    expect(lines).toEqual(['{"count":2}']);
  });
});
