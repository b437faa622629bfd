import type { RuleBody } from '@carillon/domain/configuration';
import { countingRules, ORDER_PAID, ORDERS, orderShop, stream } from '@carillon/testing/given';
import { openTopology, untilFound, type Topology } from '@carillon/testing/topology';
import { createEvaluateStage, type RuleBook } from '@carillon/stages';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { traceEvent } from '../../src/index.ts';

let topology: Topology;
beforeEach(async () => {
  topology = await openTopology({ partitions: 1 });
});
afterEach(() => topology.close());

/** Publishes the shop, whose rule has these keys, sends two paid orders of one customer, and returns the lines of the second one's trace. */
async function linesOfSecond(
  keys: Partial<RuleBody>,
  withState: (book: RuleBook) => RuleBook,
): Promise<readonly string[]> {
  const { paid } = ORDER_PAID.rules;
  if (!paid) throw new Error('there is a rule');
  const rules = { paid: { ...paid, ...keys } };
  await topology.publish(
    ...orderShop({ ...ORDER_PAID, rules }),
    stream('orders', { ...ORDERS, key: 'event.customer.email' }),
  );
  const happens = (order: string): Promise<string> =>
    topology.event({ status: 'paid', order_id: order, customer: { email: 'ada@example.com' } });
  await happens('A-1');
  const second = await happens('A-2');
  const book = withState(topology.ports.book);
  const records = await topology.records('carillon.events');
  const start = { partition: 0, configNumber: -1, watermark: 0 };
  const result = await createEvaluateStage({ ...topology.ports, book }).handle(records, start);
  await result.save?.();
  const { checkpoints, log } = topology.data;
  const done = { group: 'engine', topic: 'carillon.events', partition: 0, logId: log.logId };
  await checkpoints.save({
    ...done,
    next: records.length,
    watermark: 0,
    configNumber: result.state.configNumber,
  });
  await topology.projects();
  return untilFound('the story', async () => {
    const trace = await traceEvent(second, { ...topology.tracePorts, book });
    return trace?.steps.find(({ text }) => text === 'decided by what it keeps of the entity')?.lines;
  });
}

describe('the story of an event that a rule with state saw', () => {
  it('has what the rule saw then, and does not judge it again', async () => {
    expect(await linesOfSecond({}, countingRules)).toEqual(['{"count":2}']);
  });

  it('says that the rule is in cooldown, and since when', async () => {
    expect(await linesOfSecond({ cooldown: '1h' }, (book) => book)).toEqual([
      expect.stringMatching(/^in cooldown: fired 0s before, at \d{4}-/),
    ]);
  });

  it('says until when the rule waits', async () => {
    expect(await linesOfSecond({ after: '1h' }, (book) => book)).toEqual([
      expect.stringMatching(/^waits until \d{4}-/),
    ]);
  });
});
