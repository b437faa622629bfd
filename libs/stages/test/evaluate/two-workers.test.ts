import type { BatchResult, EvaluationOutput, LogRecord, PartitionState } from '@carillon/ports';
import { neverYield, ORDER_PAID, ORDERS, orderShop, stream } from '@carillon/testing/given';
import { openTopology, type Topology } from '@carillon/testing/topology';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createEvaluateStage, tickRecord } from '../../src/index.ts';

const MINUTE = 60_000;
/** Orders that are placed and not paid within an hour. */
const UNPAID = {
  ...ORDER_PAID,
  rules: {
    unpaid: {
      stream: 'orders',
      when: 'event.status == "placed"',
      after: '1h',
      unless: 'event.status == "paid"',
      recipients: { from: 'event', to: { email: 'event.customer.email' }, unique_id: 'event.order_id' },
    },
  },
} as typeof ORDER_PAID;

let topology: Topology;
beforeEach(async () => {
  topology = await openTopology({ partitions: 1 });
  topology.clock.standStill();
  await topology.publish(...orderShop(UNPAID), stream('orders', { ...ORDERS, key: 'event.order_id' }));
});
afterEach(() => topology.close());

const happens = (status: string, order: string) =>
  topology.event({ status, order_id: order, customer: { email: 'ada@example.com' } });
async function passes(minutes: number): Promise<void> {
  topology.clock.pass(minutes * MINUTE);
  await topology.data.log.append([tickRecord(0)]);
}

/** A worker that believes it holds the partition. It keeps its state from batch to batch. */
class Worker {
  readonly #stage = createEvaluateStage({ ...topology.ports, slice: neverYield });
  #state: PartitionState = { partition: 0, configNumber: -1, watermark: 0 };
  #next = 0;

  /** Reads to the end of the log, and returns order and deadline of each message. */
  async readToEnd(): Promise<readonly string[]> {
    const records: readonly LogRecord[] = (await topology.records('carillon.events')).slice(this.#next);
    const result: BatchResult<EvaluationOutput> = await this.#stage.handle(records, this.#state);
    expect(result.fates).toHaveLength(records.length);
    await result.save?.();
    this.#state = result.state;
    this.#next += records.length;
    return result.outputs.flatMap((output) =>
      output.kind === 'intent' ? [`${output.intent.slot.uniqueId} at ${output.intent.deadline}`] : [],
    );
  }
}

describe('two workers that both hold a partition for a moment', () => {
  it('both fire a wait that only one of them has saved', async () => {
    const [first, second] = [new Worker(), new Worker()];
    expect(await second.readToEnd()).toEqual([]);
    await happens('placed', 'A-1');
    const deadline = topology.clock.now() + 60 * MINUTE;
    // The second worker finds the event applied already.
    expect(await first.readToEnd()).toEqual([]);
    expect(await second.readToEnd()).toEqual([]);
    await passes(61);
    expect(await second.readToEnd()).toEqual([`A-1 at ${deadline}`]);
  });

  it('do not both fire a wait: the slower stops once the other has saved the firing', async () => {
    const [first, second] = [new Worker(), new Worker()];
    await happens('placed', 'A-1');
    await second.readToEnd();
    await passes(61);
    expect(await first.readToEnd()).toHaveLength(1);
    expect(await second.readToEnd()).toEqual([]);
    topology.clock.pass(MINUTE);
    await happens('placed', 'A-1');
    await expect(second.readToEnd()).rejects.toThrow('another worker saved newer states of partition 0');
  });
});
