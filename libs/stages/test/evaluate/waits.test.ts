import type { Evaluation } from '@carillon/domain/events';
import type { Intent } from '@carillon/domain/deliveries';
import type { BatchResult, EvaluationOutput, LogRecord, PartitionState } from '@carillon/ports';
import { alwaysYield, notification, ORDER_PAID, ORDERS, orderShop, neverYield, stream } from '@carillon/testing/given';
import { openTopology, type Topology } from '@carillon/testing/topology';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createEvaluateStage, tickRecord, type EvaluatePorts } from '../../src/index.ts';

const MINUTE = 60_000;
const START: PartitionState = { partition: 0, configNumber: -1, watermark: 0 };

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
const tick = () => topology.data.log.append([tickRecord(0)]);
const pass = (minutes: number): void => topology.clock.pass(minutes * MINUTE);
const events = (): Promise<LogRecord[]> => topology.records('carillon.events');

type Result = BatchResult<EvaluationOutput>;
const intentsOf = (results: readonly Result[]): readonly Intent[] =>
  results.flatMap(({ outputs }) => outputs.flatMap((output) => (output.kind === 'intent' ? [output.intent] : [])));
const evaluationsOf = (results: readonly Result[]): readonly Evaluation[] =>
  results.flatMap(({ outputs }) =>
    outputs.flatMap((output) => (output.kind === 'evaluation' ? [output.evaluation] : [])),
  );
const ordersOf = (results: readonly Result[]): readonly string[] => intentsOf(results).map(({ slot }) => slot.uniqueId);

type Reading = { readonly batch?: number; readonly saves?: boolean; readonly more?: Partial<EvaluatePorts> };
/** Evaluates records as the interpreter does, in batches, and returns what each batch came to. */
async function read(
  records: readonly LogRecord[],
  state: PartitionState = START,
  { batch = 500, saves = true, more = {} }: Reading = {},
): Promise<readonly Result[]> {
  const stage = createEvaluateStage({ ...topology.ports, slice: neverYield, ...more });
  const results: Result[] = [];
  let current = state;
  for (let left = records; left.length > 0;) {
    const result = await stage.handle(left.slice(0, batch), current);
    if (result.fates.length === 0 && !result.hasMore) throw new Error('no record was taken');
    if (saves && result.save) expect(await result.save()).toBe('done');
    results.push(result);
    current = result.state;
    left = left.slice(result.fates.length);
  }
  return results;
}

/** Lets minutes pass, and returns the orders of the waits that then end. It knows only what the store has. */
async function passedLater(results: readonly Result[], minutes: number): Promise<readonly string[]> {
  pass(minutes);
  await tick();
  const { configNumber, watermark } = results.at(-1)?.state ?? START;
  return ordersOf(await read((await events()).slice(-1), { partition: 0, configNumber, watermark }));
}

describe('a wait of a rule (it fires if no cancelling event comes before a deadline)', () => {
  it('fires at the first record of the partition after its deadline, which may be an empty tick record', async () => {
    await happens('placed', 'A-1');
    const placedAt = topology.clock.now();
    pass(60);
    await tick();
    const early = await read(await events());
    expect(ordersOf(early)).toEqual([]);
    pass(1);
    await tick();
    const [last] = early.slice(-1);
    const late = await read((await events()).slice(-1), last?.state);
    expect(ordersOf(late)).toEqual(['A-1']);
    expect(intentsOf(late)).toMatchObject([
      { deadline: placedAt + 60 * MINUTE, causedAt: placedAt + 60 * MINUTE, eventPosition: 'carillon.events/0@1' },
    ]);
    expect(evaluationsOf([...early, ...late]).flatMap(({ rules }) => rules)).toMatchObject([
      { waitsStarted: 1, fired: 0 },
      { waitsStarted: 0, fired: 1, firedByDeadline: 1 },
    ]);
  });

  it('is cancelled by an event up to its deadline', async () => {
    await happens('placed', 'A-1');
    await happens('placed', 'A-2');
    pass(60);
    await happens('paid', 'A-1');
    pass(5);
    await tick();
    const results = await read(await events());
    expect(ordersOf(results)).toEqual(['A-2']);
    expect(evaluationsOf(results).flatMap(({ rules }) => rules)).toMatchObject([
      { waitsStarted: 2, waitsCancelled: 1, firedByDeadline: 1 },
    ]);
    const rule = { workspace: 'shop', rule: 'order-paid.unpaid' };
    expect(results.flatMap(({ decided = [] }) => decided)).toEqual([
      { ...rule, decision: 'wait_started', count: 2 },
      { ...rule, decision: 'wait_cancelled', count: 1 },
      { ...rule, decision: 'fired_by_deadline', count: 1 },
    ]);
  });

  it('gives the same messages for any batch size, and after a crash at any save', async () => {
    for (const order of ['A-1', 'A-2', 'A-3']) {
      await happens('placed', order);
      pass(30);
    }
    await happens('paid', 'A-2');
    pass(61);
    await happens('placed', 'A-4');
    const records = await events();
    const whole = intentsOf(await read(records, START, { saves: false }));
    expect(whole.map(({ slot }) => slot.uniqueId).toSorted()).toEqual(['A-1', 'A-3']);
    const again = intentsOf(await read(records, START, { batch: 1 }));
    expect(again).toEqual(whole);
    // All states are saved, and no position is: nothing comes again, and nothing is lost.
    const repeated = await read(records, START, { batch: 2 });
    expect(intentsOf(repeated)).toEqual([]);
    expect(evaluationsOf(repeated).reduce((sum, { repeated: count }) => sum + count, 0)).toBe(5);
    pass(61);
    await tick();
    const { state = START } = repeated.at(-1) ?? {};
    expect(ordersOf(await read((await events()).slice(-1), state))).toEqual(['A-4']);
  });

  it('fires by the configuration that is in force before the record that triggers it', async () => {
    await happens('placed', 'A-1');
    await happens('placed', 'A-2');
    pass(61);
    const disabled = { ...UNPAID.rules['unpaid'], enabled: false };
    await topology.publish(notification('order-paid', { ...UNPAID, rules: { unpaid: disabled } } as typeof ORDER_PAID));
    const results = await read(await events());
    expect(ordersOf(results).toSorted()).toEqual(['A-1', 'A-2']);
  });

  it('ends without a message if its rule was disabled before the deadline', async () => {
    await happens('placed', 'A-1');
    const disabled = { ...UNPAID.rules['unpaid'], enabled: false };
    await topology.publish(notification('order-paid', { ...UNPAID, rules: { unpaid: disabled } } as typeof ORDER_PAID));
    pass(61);
    await tick();
    expect(ordersOf(await read(await events()))).toEqual([]);
    expect(await topology.data.ruleStates.earliestDue(0)).toBeNull();
  });

  it('fires in the next commit if a thousand others have fired, and the position stays before the record', async () => {
    const orders = Array.from({ length: 1_050 }, (_, at) => `A-${at}`);
    for (const order of orders) await happens('placed', order);
    pass(61);
    // The record's own entity is the first that waits, and the last that is passed.
    await happens('placed', 'A-0');
    const records = await events();
    const before = await read(records.slice(0, -1));
    const { state } = before.at(-1) ?? { state: START };
    const results = await read(records.slice(-1), state);
    expect(results.map(({ fates, hasMore = false }) => [fates.length, hasMore])).toEqual([
      [0, true],
      [1, false],
    ]);
    expect(results.map((result) => intentsOf([result]).length)).toEqual([999, 51]);
    expect(new Set(ordersOf(results))).toEqual(new Set(orders));
    expect(results[0]?.state.watermark).toBe(state.watermark);
    const offset = records.at(-1)?.offset ?? 0;
    expect(evaluationsOf(results)).toMatchObject([
      { from: offset, to: offset, intents: 999 },
      { from: offset, to: offset + 1, intents: 51 },
    ]);
    expect(await passedLater(results, 61)).toEqual(['A-0']);
  });

  it('ends in the same commit as the event that starts or cancels another wait of its entity, also if commits end early', async () => {
    const unpaid = UNPAID.rules['unpaid'];
    const rules = { unpaid, reminder: { ...unpaid, after: '3h' } };
    await topology.publish(notification('order-paid', { ...UNPAID, rules } as typeof ORDER_PAID));
    const orders = Array.from({ length: 80 }, (_, at) => `A-${at}`);
    for (const order of orders) await happens('placed', order);
    pass(61);
    await happens('paid', 'A-0');
    const records = await events();
    const { state } = (await read(records.slice(0, -1))).at(-1) ?? { state: START };
    const results = await read(records.slice(-1), state, { more: { slice: alwaysYield() } });
    expect(results.length).toBeGreaterThan(1);
    expect(results.slice(0, -1).flatMap(({ fates }) => fates)).toEqual([]);
    expect(ordersOf(results).toSorted()).toEqual(orders.toSorted());
    expect((await passedLater(results, 180)).toSorted()).toEqual(orders.slice(1).toSorted());
  });
});

describe('the store of rule state', () => {
  const counting = () => {
    const calls: string[] = [];
    const { ruleStates } = topology.data;
    const counted: EvaluatePorts['ruleStates'] = {
      load: (ids) => (calls.push(`load ${ids.length}`), ruleStates.load(ids)),
      save: (states) => (calls.push(`save ${states.length}`), ruleStates.save(states)),
      due: (...asked) => (calls.push('due'), ruleStates.due(...asked)),
      earliestDue: (partition) => (calls.push('earliest'), ruleStates.earliestDue(partition)),
    };
    return { calls, counted };
  };

  it('is read once per entity and partition assignment, and for deadlines only if one may have passed', async () => {
    await happens('placed', 'A-1');
    await happens('viewed', 'A-2');
    pass(10);
    await happens('viewed', 'A-1');
    await happens('viewed', 'A-2');
    pass(51);
    await tick();
    await tick();
    const { calls, counted } = counting();
    await read(await events(), START, { batch: 3, more: { ruleStates: counted } });
    expect(calls).toEqual(['load 2', 'earliest', 'save 1', 'due', 'save 1']);
    await read(await events(), START, { batch: 3, more: { ruleStates: counted } });
    expect(calls.slice(5)).toEqual(['load 2', 'earliest']);
  });
});

describe('an event that a rule cannot evaluate', () => {
  it('fails its rule with a reason, and does not stop later records', async () => {
    const when = 'event.status == "placed"';
    const to = { email: 'event.customer.email' };
    const common = { stream: 'orders', when, recipients: { from: 'event', to, unique_id: 'event.order_id' } } as const;
    const rules = { unpaid: { ...common, after: '2h' }, reminder: { ...common, at: 'event.starts_at' } };
    await topology.publish(notification('order-paid', { ...ORDER_PAID, rules }));
    const customer = { email: 'ada@example.com' };
    const bad = (order: string, more: object) =>
      topology.event({ status: 'placed', order_id: order, customer, ...more });
    await bad('year', { starts_at: '99999-01-01T00:00:00Z' });
    await bad('past', { starts_at: new Date(topology.clock.now() - MINUTE).toISOString() });
    await bad('large', { starts_at: null, text: 'x'.repeat(33 * 1024) });
    await bad('k'.repeat(1_024), { starts_at: null });
    await bad('good', { starts_at: null });
    pass(121);
    await tick();
    const results = await read(await events());
    expect(ordersOf(results).toSorted()).toEqual(['good', 'k'.repeat(1_024), 'past', 'year']);
    const errors = evaluationsOf(results).flatMap(({ rules: tallies }) =>
      tallies.flatMap(({ rule, failed, sampleError }) => (failed > 0 ? [[rule, failed, sampleError]] : [])),
    );
    expect(errors).toEqual([
      ['order-paid.unpaid', 1, expect.stringContaining('32 KiB')],
      ['order-paid.reminder', 1, expect.stringContaining('at is no time')],
    ]);
  });
});
