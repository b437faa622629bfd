import { runToCompletion } from '@carillon/kernel';
import type { BatchResult, EvaluationOutput, LogRecord, PartitionState } from '@carillon/ports';
import { countingRules, noRuleStates, neverYield, ORDERS, orderShop, stream } from '@carillon/testing/given';
import { openTopology, type Topology } from '@carillon/testing/topology';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  createEvaluateStage,
  decisionsAbout,
  loadMemory,
  evaluateEventCoroutine,
  EntityStates,
  readSourceRecord,
  type EvaluatePorts,
} from '../../src/index.ts';

let topology: Topology;
beforeEach(async () => {
  topology = await openTopology({ partitions: 1 });
  await topology.publish(...orderShop(), stream('orders', { ...ORDERS, key: 'event.customer.email' }));
});
afterEach(() => topology.close());

const START: PartitionState = { partition: 0, configNumber: -1, watermark: 0 };

let number = 0;
const happens = (who: string, status = 'paid') =>
  topology.event({ status, order_id: `${who}-${(number += 1)}`, customer: { email: `${who}@example.com` } });
const events = (): Promise<LogRecord[]> => topology.records('carillon.events');
/** Batches are judged whole, however slow the machine is. */
const evaluate = (
  records: readonly LogRecord[],
  state = START,
  more: Partial<EvaluatePorts> = {},
): Promise<BatchResult<EvaluationOutput>> =>
  createEvaluateStage({
    ...topology.ports,
    slice: neverYield,
    book: countingRules(topology.ports.book),
    ...more,
  }).handle(records, state);
const told = ({ outputs }: BatchResult<EvaluationOutput>): readonly (string | null)[] =>
  outputs.flatMap((output) => (output.kind === 'intent' ? [output.intent.to] : []));

describe('a rule with state (it counts events or waits)', () => {
  it('keeps a separate state for each entity across batches', async () => {
    for (const who of ['ada', 'bob', 'ada', 'bob', 'ada', 'bob', 'ada']) await happens(who);
    const records = await events();
    const first = await evaluate(records.slice(0, 6));
    expect(await first.save?.()).toBe('done');
    const second = await evaluate(records.slice(6), first.state);
    expect(await second.save?.()).toBe('done');
    expect([...told(first), ...told(second)]).toEqual(['ada@example.com', 'bob@example.com']);
  });

  it('counts an event once, however often its batch is repeated', async () => {
    for (let at = 0; at < 4; at += 1) await happens('ada');
    const records = await events();
    const first = await evaluate(records.slice(0, 4));
    await first.save?.();
    // The checkpoint was not saved: all of it comes again.
    const again = await evaluate(records);
    await again.save?.();
    expect([told(first), told(again)]).toEqual([['ada@example.com'], []]);
    await happens('ada');
    const last = await evaluate((await events()).slice(-1), again.state);
    expect(told(last)).toEqual([]);
    await last.save?.();
    await happens('ada');
    expect(told(await evaluate((await events()).slice(-1), last.state))).toEqual(['ada@example.com']);
  });

  it('is refused on a stream without a key, because workers of several partitions would write one document', async () => {
    const { key: _key, ...keyless } = ORDERS;
    await topology.publish(stream('orders', keyless));
    await happens('ada');
    const records = await events();
    const batch = await evaluate(records);
    const rules = batch.outputs.flatMap((output) => (output.kind === 'evaluation' ? output.evaluation.rules : []));
    expect(rules).toMatchObject([{ fired: 0, failed: 1 }]);
    expect(rules[0]?.sampleError).toContain('make a stream with a key for it');
    expect(batch.save).toBeUndefined();
  });

  it('saves nothing if another worker of the partition is ahead', async () => {
    await happens('ada');
    await happens('ada');
    const records = await events();
    const slow = await evaluate(records.slice(0, -1));
    const quick = await evaluate(records);
    expect(await quick.save?.()).toBe('done');
    expect(await slow.save?.()).toBe('refused');
  });

  it('stores its decision with the entity, because the event alone does not determine it', async () => {
    const ids = [await happens('ada'), await happens('ada', 'open')];
    await (await evaluate(await events())).save?.();
    const seen = [];
    for (const record of (await events()).slice(-2)) {
      const read = readSourceRecord(record, topology.data.log.logId);
      if (!read.ok || read.value.kind !== 'event') throw new Error('an event');
      const { event } = read.value;
      const memory = await loadMemory({ ...event, key: event.key ?? '' }, topology.ports);
      if (memory) seen.push(...decisionsAbout(memory, event));
    }
    expect(seen).toMatchObject(ids.map((eventId) => ({ eventId, saw: { count: 1 } })));
  });

  it('evaluated in a separate run ignores the live state, and has ids of its own', async () => {
    for (let at = 0; at < 3; at += 1) await happens('ada');
    const records = await events();
    const live = await evaluate(records);
    await live.save?.();
    const liveIds = live.outputs.flatMap((output) => (output.kind === 'intent' ? [output.intent.triggerId] : []));

    const { configuration, ids, log } = topology.ports;
    const source = records.flatMap((record) => {
      const read = readSourceRecord(record, log.logId);
      return read.ok && read.value.kind === 'event' ? [read.value.event] : [];
    });
    const runId = 'run_1';
    const store = topology.data.ruleStates;
    const states = new EntityStates({ store, derive: ids.derive, runId, logId: log.logId, partition: 0 });
    await states.load(source.map((event) => ({ ...event, key: event.key ?? '' })));
    const run = { runId, states };
    const book = countingRules(topology.ports.book);
    const otherIds = source.flatMap((event) =>
      runToCompletion(evaluateEventCoroutine(event, configuration.current(), book, ids.derive, run)).flatMap(
        ({ intents }) => intents.map(({ triggerId }) => triggerId),
      ),
    );
    expect([liveIds.length, otherIds.length]).toEqual([1, 1]);
    expect(otherIds).not.toEqual(liveIds);
  });
});

describe('rules without state', () => {
  it('load and save no state from the store', async () => {
    await happens('ada');
    const result = await createEvaluateStage({ ...topology.ports, ruleStates: noRuleStates }).handle(
      await events(),
      START,
    );
    expect(told(result)).toEqual(['ada@example.com']);
    expect(result.save).toBeUndefined();
  });

  it('share one read of the store per batch with a rule that has state', async () => {
    for (const who of ['ada', 'bob', 'ada']) await happens(who);
    const asked: number[] = [];
    const { ruleStates } = topology.data;
    const counted: EvaluatePorts['ruleStates'] = {
      ...ruleStates,
      load: (ids) => {
        asked.push(ids.length);
        return ruleStates.load(ids);
      },
    };
    await evaluate(await events(), START, { ruleStates: counted });
    expect(asked).toEqual([2]);
  });
});
