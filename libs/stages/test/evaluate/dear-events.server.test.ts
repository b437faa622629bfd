import type { NotificationBody, RuleBody } from '@carillon/domain/configuration';
import type { Json } from '@carillon/kernel';
import type { LogRecord, EventLoopSlice, BatchResult, PartitionState } from '@carillon/ports';
import { notification, ORDER_PAID, orderShop, alwaysYield } from '@carillon/testing/given';
import { openTopology, type Topology } from '@carillon/testing/topology';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createEncoder, createEvaluateStage } from '../../src/index.ts';

let topology: Topology;
beforeEach(async () => {
  topology = await openTopology({ partitions: 1 });
});
afterEach(() => topology.close());

const START: PartitionState = { partition: 0, configNumber: -1, watermark: 0 };
const DEAR: RuleBody['recipients'] = {
  from: 'event',
  for_each: 'event.watchers',
  to: { email: 'item.email' },
  unique_id: 'item.email',
  where: 'event.text.matches("(a+)+$")',
};
const dearShop = (...names: readonly string[]): NotificationBody => ({
  ...ORDER_PAID,
  rules: Object.fromEntries(names.map((name) => [name, { stream: 'orders', when: 'event.dear', recipients: DEAR }])),
});
const dearEvent = (characters: number): { readonly [name: string]: Json } => ({
  dear: true,
  text: 'a'.repeat(characters),
  watchers: Array.from({ length: 500 }, (_, at) => ({ email: `p${at}@example.com` })),
});
const evaluate = async (
  records: readonly LogRecord[],
  slice: EventLoopSlice,
  state: PartitionState = START,
): Promise<BatchResult> => {
  const result = await createEvaluateStage({ ...topology.ports, slice }).handle(records, state);
  return { ...result, outputs: result.outputs.map(createEncoder(topology.ports)) };
};
const events = (): Promise<LogRecord[]> => topology.records('carillon.events');

describe('an event that is expensive to evaluate', () => {
  it('drops the remaining recipients as too_complex, and counts them in the metric', async () => {
    await topology.publish(...orderShop(dearShop('dear')));
    const id = await topology.event(dearEvent(2_000));
    const { dropped = [], outputs } = await evaluate(await events(), alwaysYield());
    const told = outputs.filter(({ topic }) => topic === 'carillon.intents').length;
    expect(told).toBeGreaterThan(5);
    expect(dropped).toMatchObject([{ workspace: 'shop', reason: 'too_complex', count: 500 - told }]);
    const evaluations = outputs.flatMap(({ topic, value }) => {
      const read = topic === 'carillon.evaluations' ? topology.ports.codecs.evaluation.decode(value) : undefined;
      return read?.ok ? [read.value] : [];
    });
    expect(evaluations[0]?.rules).toMatchObject([{ dropped: 500 - told, sampleEventId: id }]);
  });

  it('has one budget for all its rules, so that the last rules may get none', async () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f'];
    await topology.publish(...orderShop(dearShop(...names)));
    await topology.event(dearEvent(2_000));
    const { outputs } = await evaluate(await events(), alwaysYield());
    const [evaluation] = outputs.flatMap(({ topic, value }) => {
      const read = topic === 'carillon.evaluations' ? topology.ports.codecs.evaluation.decode(value) : undefined;
      return read?.ok ? [read.value] : [];
    });
    const dropped = evaluation?.rules.map((rule) => rule.dropped) ?? [];
    const [first = 0] = dropped;
    expect(first).toBeLessThan(500);
    expect(dropped.slice(0, 4)).toEqual([first, first, first, first]);
    expect(dropped[4]).toBeGreaterThan(first);
    expect(dropped[5]).toBe(500);
  });

  it('does not delay an event that is evaluated at the same time', async () => {
    await topology.publish(...orderShop(dearShop('dear', 'paid')));
    await topology.event(dearEvent(2_000));
    const dear = await events();
    const number = await topology.publish(notification('order-paid', ORDER_PAID));
    await topology.event({ status: 'paid', order_id: 'A-1', customer: { email: 'ada@example.com' } });
    const cheap = (await events()).slice(dear.length);
    const slice = alwaysYield();
    const order: string[] = [];
    // Partitions ask for the deadlines of their waits when they are assigned.
    const [one, other] = [await evaluate([], slice), await evaluate([], slice)];
    await Promise.all([
      evaluate(dear, slice, one.state).then(() => order.push('dear')),
      evaluate(cheap, slice, other.state).then(({ state }) =>
        order.push(`other, by configuration ${state.configNumber}`),
      ),
    ]);
    expect(order).toEqual([`other, by configuration ${number}`, 'dear']);
    expect(slice.ended).toBeGreaterThan(50);
  });

  it('yields to the event loop between recipients', async () => {
    await topology.publish(...orderShop(dearShop('dear')));
    await topology.event(dearEvent(240_000));
    await topology.event(dearEvent(2_000));
    let turned = 0;
    const turn = (): void => {
      turned += 1;
      beat = setImmediate(turn);
    };
    let beat = setImmediate(turn);
    await evaluate(await events(), {
      isExpired: () => true,
      yield: () => new Promise((resolve) => void setImmediate(resolve)),
    });
    clearImmediate(beat);
    expect(turned).toBeGreaterThan(20);
  });

  it('ends its batch early after some yields, and the remaining records are read again', async () => {
    await topology.publish(...orderShop(dearShop('dear')));
    for (let at = 0; at < 5; at += 1) await topology.event({ ...dearEvent(2_000), at });
    const records = await events();
    const { fates } = await evaluate(records, alwaysYield());
    expect(fates.length).toBeGreaterThan(0);
    expect(fates.length).toBeLessThan(records.length);
    expect((await evaluate(records, { isExpired: () => false, yield: () => Promise.resolve() })).fates).toHaveLength(6);
  });

  it('gives the same messages wherever it yields', async () => {
    await topology.publish(...orderShop(dearShop('a', 'b', 'c', 'd', 'e')));
    await topology.event(dearEvent(2_000));
    const intentsOf = async (slice: EventLoopSlice): Promise<unknown> => {
      const { outputs } = await evaluate(await events(), slice);
      return outputs.filter(({ topic }) => topic === 'carillon.intents').map(({ key, value }) => [key, [...value]]);
    };
    const counted = alwaysYield();
    expect(await intentsOf(counted)).toEqual(await intentsOf(topology.ports.slice));
  });
});
