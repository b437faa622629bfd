import type { Intent } from '@carillon/domain/deliveries';
import { decisionWords, readMemory } from '@carillon/domain/rules';
import type { BatchResult, EvaluationOutput, PartitionState } from '@carillon/ports';
import { neverYield, notification, ORDER_PAID, ORDERS, orderShop, stream } from '@carillon/testing/given';
import { openTopology, type Topology } from '@carillon/testing/topology';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createEvaluateStage, tickRecord } from '../../src/index.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const GRACE = 10_000;
const UNPAID = {
  stream: 'orders',
  when: 'event.status == "placed"',
  after: '1h',
  unless: 'event.status == "paid"',
  recipients: { from: 'event', to: { email: 'event.customer.email' }, unique_id: 'event_id' },
} as const;
const SILENT = { ...UNPAID, after: undefined, unless: undefined, after_last: '1h' };

let topology: Topology;
let state: PartitionState;
let start: number;
let read: number;
beforeEach(async () => {
  topology = await openTopology({ partitions: 1 });
  topology.clock.standStill();
  start = topology.clock.now();
  state = { partition: 0, configNumber: -1, watermark: 0 };
  read = 0;
  await topology.publish(
    ...orderShop(ofRule(UNPAID)),
    stream('orders', { ...ORDERS, key: 'event.order_id', time: 'event.happened_at' }),
  );
});
afterEach(() => topology.close());

const ofRule = (rule: object): typeof ORDER_PAID => ({ ...ORDER_PAID, rules: { rule } }) as typeof ORDER_PAID;
const publish = (rule: object) => topology.publish(notification('order-paid', ofRule(rule)));

/** Appends an event that happened this long after the start, and evaluates it. */
async function happened(status: string, after: number): Promise<readonly Intent[]> {
  const at = new Date(start + after).toISOString();
  await topology.event({ status, order_id: 'A-1', happened_at: at, customer: { email: 'ada@example.com' } });
  return evaluate();
}

/** Appends a tick this long after the start, and evaluates it. */
async function tickAt(after: number): Promise<readonly Intent[]> {
  topology.clock.pass(start + after - topology.clock.now());
  await topology.data.log.append([tickRecord(0)]);
  return evaluate();
}

let last: BatchResult<EvaluationOutput>;
async function evaluate(): Promise<readonly Intent[]> {
  const records = (await topology.records('carillon.events')).slice(read);
  last = await createEvaluateStage({ ...topology.ports, slice: neverYield }).handle(records, state);
  if (last.save) expect(await last.save()).toBe('done');
  read += records.length;
  const { partition, configNumber, watermark } = last.state;
  state = { partition, configNumber, watermark };
  return last.outputs.flatMap((output) => (output.kind === 'intent' ? [output.intent] : []));
}

async function decisions(): Promise<readonly string[]> {
  const id = topology.ports.ids.derive('state', 'shop/orders', 'A-1', '');
  const [stored] = await topology.data.ruleStates.load([id]);
  return stored ? readMemory(stored.data, stored.offset).decisions.flatMap(decisionWords) : [];
}

describe('a rule that waits, on a stream with a time path', () => {
  it('counts its deadline from the time of the event, and fires after a further grace for late events', async () => {
    await happened('placed', -30 * MINUTE);
    expect(await tickAt(30 * MINUTE + GRACE)).toEqual([]);
    expect(await tickAt(30 * MINUTE + GRACE + 1)).toMatchObject([{ deadline: start + 30 * MINUTE }]);
  });

  it('uses the grace that the stream configures', async () => {
    const timed = { ...ORDERS, key: 'event.order_id', time: 'event.happened_at', grace: '1m' };
    await topology.publish(stream('orders', timed));
    await happened('placed', 0);
    expect(await tickAt(HOUR + MINUTE)).toEqual([]);
    expect(await tickAt(HOUR + MINUTE + 1)).toHaveLength(1);
  });

  it.each([
    ['at its deadline', HOUR, []],
    ['a millisecond after its deadline', HOUR + 1, ['ada@example.com']],
  ])('is cancelled within the grace by an event that happened %s', async (_title, at, told) => {
    await happened('placed', 0);
    await tickAt(HOUR + GRACE);
    const intents = await happened('paid', at);
    expect([...intents, ...(await tickAt(2 * HOUR))].map(({ to }) => to)).toEqual(told);
  });

  it('is not started by an event that is not newer than one for which `unless` was true', async () => {
    await happened('paid', 0);
    await happened('placed', -MINUTE);
    await happened('placed', 0);
    expect(await tickAt(2 * HOUR)).toEqual([]);
    const words = `starts no wait: \`unless\` was true at ${new Date(start).toISOString()}, and the event is not newer`;
    expect(await decisions()).toEqual([words, words]);
    await happened('placed', 1);
    expect(await tickAt(2 * HOUR + 1)).toMatchObject([{ deadline: start + HOUR + 1 }]);
  });

  it('fires at the next record for an event that comes hours late, and counts the event as late', async () => {
    await happened('placed', -5 * HOUR);
    expect(await decisions()).toContain('the event came 5h after its time');
    expect(last.decided).toContainEqual({ workspace: 'shop', rule: 'order-paid.rule', decision: 'late', count: 1 });
    const evaluations = last.outputs.flatMap((output) => (output.kind === 'evaluation' ? [output.evaluation] : []));
    expect(evaluations.map(({ late }) => late)).toEqual([1]);
    expect(await tickAt(1)).toMatchObject([{ deadline: start - 4 * HOUR }]);
  });

  it('counts no event as late that comes within the grace', async () => {
    await happened('placed', -GRACE);
    expect(last.decided).not.toContainEqual(expect.objectContaining({ decision: 'late' }));
  });

  it('waits from the newest event with after_last, also if an older event arrives later', async () => {
    await publish(SILENT);
    await happened('placed', 0);
    await happened('placed', -30 * MINUTE);
    expect(await tickAt(HOUR)).toEqual([]);
    expect(await tickAt(HOUR + GRACE + 1)).toMatchObject([{ deadline: start + HOUR }]);
  });

  it('counts a cooldown by the times of events, not of their arrival', async () => {
    await publish({ ...UNPAID, after: undefined, unless: undefined, cooldown: '1h' });
    const to = [
      await happened('placed', -2 * HOUR),
      await happened('placed', -HOUR - 1),
      await happened('placed', -HOUR),
    ];
    expect(to.map((intents) => intents.length)).toEqual([1, 0, 1]);
  });
});
