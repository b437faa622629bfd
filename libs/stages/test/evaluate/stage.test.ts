import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { EVENT_LIMITS } from '@carillon/domain/events';
import { stopsPartition } from '@carillon/kernel';
import type { LogRecord, BatchResult, PartitionState } from '@carillon/ports';
import { writeChange } from '@carillon/domain/changes';
import { givenChange, ORDER_PAID, notification, neverYield, orderShop } from '@carillon/testing/given';
import { openTopology, untilFound, type Topology } from '@carillon/testing/topology';
import { createEncoder, createEvaluateStage, ENGINE_SEMANTICS, markerRecord } from '../../src/index.ts';

let topology: Topology;
beforeEach(async () => {
  topology = await openTopology({ partitions: 1 });
});
afterEach(() => topology.close());

const START: PartitionState = { partition: 0, configNumber: -1, watermark: 0 };
const paid = (order: string) => ({ status: 'paid', order_id: order, customer: { email: 'ada@example.com' } });
const events = (): Promise<LogRecord[]> => topology.records('carillon.events');
const evaluate = async (records: readonly LogRecord[], state = START): Promise<BatchResult> => {
  // A batch is judged whole, however slow the machine is.
  const result = await createEvaluateStage({ ...topology.ports, slice: neverYield }).handle(records, state);
  return { ...result, outputs: result.outputs.map(createEncoder(topology.ports)) };
};

function readOutputs({ outputs }: Pick<BatchResult, 'outputs'>) {
  const { intent, evaluation, deadLetter } = topology.ports.codecs;
  const decode = <T>(
    topic: string,
    codec: { decode(bytes: Uint8Array): { ok: true; value: T } | { ok: false } },
  ): T[] =>
    outputs
      .filter((output) => output.topic === topic)
      .flatMap((output) => {
        const read = codec.decode(output.value);
        return read.ok ? [read.value] : [];
      });
  return {
    intents: decode('carillon.intents', intent),
    evaluations: decode('carillon.evaluations', evaluation),
    letters: decode('carillon.dead-letters', deadLetter),
  };
}
const off = { ...ORDER_PAID, enabled: false };

describe('a database change on the log', () => {
  it('counts as failed if the rule needs a value that the database did not send, and the error has the SQL statement that helps', async () => {
    const rule = ORDER_PAID.rules['paid'];
    if (!rule) throw new Error('there is a rule');
    const rules = { paid: { ...rule, when: 'changedTo(event.status, "paid")' } };
    await topology.publish(...orderShop({ ...ORDER_PAID, rules }));
    await topology.event(paid('A-1'));
    const { change } = givenChange({ event: paid('A-1') });
    if (!change) throw new Error('it is a change');
    const records = (await events()).map((record) =>
      record.headers['kind'] === 'event'
        ? { ...record, value: writeChange(change), headers: { ...record.headers, shape: 'change' } }
        : record,
    );
    const { evaluations, intents } = readOutputs(await evaluate(records));
    expect(intents).toEqual([]);
    const tallies = evaluations.flatMap((evaluation) => evaluation.rules);
    expect(tallies).toMatchObject([{ rule: 'order-paid.paid', fired: 0, failed: 1 }]);
    expect(tallies[0]?.sampleError).toMatch(/^before_unknown: .* ALTER TABLE public\.orders REPLICA IDENTITY FULL;/);
  });
});

describe('an event on the log', () => {
  it('is evaluated by the configuration of the newest marker before it in its partition, not by the newest configuration', async () => {
    await topology.publish(...orderShop());
    await topology.event(paid('before'));
    const number = await topology.publish(notification('order-paid', off));
    await topology.event(paid('after'));
    const result = await evaluate(await events());
    expect(result.state.configNumber).toBe(number);
    expect(readOutputs(result).intents.map(({ slot, configNumber }) => [slot.uniqueId, configNumber])).toEqual([
      ['before', 0],
    ]);
    expect(result.fates.map(({ kind }) => kind)).toEqual(['done', 'done', 'done', 'dropped']);
  });

  it('is evaluated by no rule and fires nothing before the first marker', async () => {
    await topology.publish(...orderShop());
    await topology.event(paid('A-1'));
    const [, event] = await events();
    const result = await evaluate(event ? [event] : []);
    expect(readOutputs(result).intents).toEqual([]);
    expect(readOutputs(result).evaluations).toMatchObject([{ configNumber: -1, events: 1 }]);
  });

  it('is evaluated as before after a marker with a smaller configuration number', async () => {
    await topology.publish(...orderShop());
    await topology.publish(notification('order-paid', off));
    await topology.data.log.append([markerRecord(0, 0)]);
    await topology.event(paid('late'));
    const result = await evaluate(await events());
    expect(result.state.configNumber).toBe(1);
    expect(readOutputs(result).intents).toEqual([]);
  });

  it('is not evaluated after a marker of a newer program version, while events before that marker are', async () => {
    await topology.publish(...orderShop());
    await topology.event(paid('before'));
    await topology.data.log.append([markerRecord(0, 1, ENGINE_SEMANTICS + 1)]);
    await topology.event(paid('behind'));
    const records = await events();
    const result = await evaluate(records);
    expect(readOutputs(result).intents.map(({ slot }) => slot.uniqueId)).toEqual(['before']);
    expect(result.fates).toHaveLength(2);
    const failure = await evaluate(records.slice(2)).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'engine_outdated' });
    expect(stopsPartition(failure)).toBe(true);
  });

  it('moves the stored time of its partition to the append time of any record, and never back', async () => {
    await topology.publish(...orderShop());
    await topology.event(paid('A-1'));
    const records = (await events()).map((record, at) => ({ ...record, time: 1_000 * (at + 1) }));
    expect((await evaluate(records.slice(0, 1))).state.watermark).toBe(1_000);
    expect((await evaluate(records)).state.watermark).toBe(2_000);
    expect((await evaluate(records, { ...START, watermark: 7_000 })).state.watermark).toBe(7_000);
  });
});

describe('an unreadable record of the event log', () => {
  it('becomes a dead letter with its bytes and the reason, and the partition continues', async () => {
    await topology.publish(...orderShop());
    const [marker] = await events();
    const headers = { kind: 'event', enc: '0', event_id: 'evt_x', workspace: 'shop', stream: 'shop/orders' };
    const bad = { topic: 'carillon.events', partition: 0, key: 'k' } as const;
    await topology.data.log.append([
      { ...bad, headers, value: new TextEncoder().encode('{"status":') },
      { ...bad, headers: { kind: 'riddle' }, value: new Uint8Array() },
      { ...bad, headers: { ...headers, enc: '9' }, value: new Uint8Array([1, 2]) },
    ]);
    await topology.event(paid('A-1'));
    const result = await evaluate(await events());
    const { letters, intents, evaluations } = readOutputs(result);
    expect(letters.map(({ reason, offset, workspace }) => [reason, offset, workspace])).toEqual([
      ['invalid_json', 1, 'shop'],
      ['unknown_kind', 2, null],
      ['unknown_encoding', 3, 'shop'],
    ]);
    expect(Buffer.from(letters[0]?.value ?? []).toString()).toBe('{"status":');
    expect(result.fates.map(({ kind }) => kind)).toEqual(['done', 'parked', 'parked', 'parked', 'done']);
    expect(intents).toHaveLength(1);
    expect(evaluations).toMatchObject([{ from: marker?.offset, to: 5, events: 1, deadLetters: 3, intents: 1 }]);
  });

  it('becomes a dead letter if another program wrote it larger than the gateway accepts', async () => {
    await topology.publish(...orderShop());
    await topology.event(paid('A-1'));
    const event = (await events()).at(-1);
    const value = new TextEncoder().encode(JSON.stringify({ text: 'x'.repeat(EVENT_LIMITS.bytes) }));
    const result = await evaluate(event ? [{ ...event, value }] : []);
    expect(readOutputs(result).letters).toMatchObject([{ reason: 'body_too_large' }]);
  });

  it('makes the same dead letter when its batch is repeated', async () => {
    const bad = { topic: 'carillon.events', partition: 0, key: 'k', headers: {}, value: new Uint8Array() } as const;
    await topology.data.log.append([bad]);
    const idOf = async () => readOutputs(await evaluate(await events())).letters.map(({ id }) => id);
    expect(await idOf()).toEqual(await idOf());
  });
});

describe('evaluation records (one per range of events, with counts per rule)', () => {
  it('follow each other without a gap for any batch size, each under one configuration number', async () => {
    await topology.publish(...orderShop());
    for (const order of ['A', 'B', 'C']) await topology.event(paid(order));
    await topology.publish(notification('order-paid', off));
    for (const order of ['D', 'E']) await topology.event({ ...paid(order), status: 'open' });
    const records = await events();
    for (const cut of [1, 2, 3, 100]) {
      let state = START;
      const chain: { from: number; to: number; configNumber: number; events: number }[] = [];
      for (let at = 0; at < records.length; at += cut) {
        const result = await evaluate(records.slice(at, at + cut), state);
        state = result.state;
        chain.push(...readOutputs(result).evaluations);
      }
      expect(chain.map(({ from }) => from)).toEqual([0, ...chain.map(({ to }) => to).slice(0, -1)]);
      expect(chain.at(-1)?.to).toBe(records.length);
      expect(chain.reduce((sum, each) => sum + each.events, 0)).toBe(5);
      expect(new Set(chain.map(({ configNumber }) => configNumber))).toEqual(new Set([0, 1]));
    }
  });

  it('say per rule how many fired and failed, with an example of the failure', async () => {
    const when = 'event.total > 5';
    const rules = { big: { ...(ORDER_PAID.rules['paid'] ?? never()), when } };
    await topology.publish(...orderShop({ ...ORDER_PAID, rules }));
    await topology.event({ ...paid('A'), total: 9 });
    await topology.event({ ...paid('B'), total: 1 });
    const failing = await topology.event(paid('C'));
    const { evaluations } = readOutputs(await evaluate(await events()));
    expect(evaluations[0]?.rules).toMatchObject([
      { rule: 'order-paid.big', ruleVersion: 1, fired: 1, failed: 1, dropped: 0, sampleEventId: failing },
    ]);
    expect(evaluations[0]?.rules[0]?.sampleError).toContain('total');
  });

  it('overlap when a batch is repeated, still have no gap, and no other message is made', async () => {
    await topology.publish(...orderShop());
    const consumption = await topology.evaluates();
    await topology.event(paid('A'));
    const { log, checkpoints } = topology.data;
    const judgedTo = (end: number) =>
      untilFound(`the engine is at ${end}`, async () => {
        const checkpoint = await checkpoints.load('engine', 'carillon.events', 0);
        return checkpoint && checkpoint.next >= end ? checkpoint : undefined;
      });
    await judgedTo(2);
    await consumption.stop();
    const outputs = (await evaluate(await events())).outputs;
    await log.append(outputs); // what a worker does that dies before its checkpoint
    await topology.evaluates();
    await topology.event(paid('B'));
    await judgedTo(3);
    const all = readOutputs({
      outputs: [...(await topology.records('carillon.evaluations')), ...(await topology.records('carillon.intents'))],
    });
    let reached = 0;
    for (const { from, to } of all.evaluations) {
      expect(from).toBeLessThanOrEqual(reached);
      reached = Math.max(reached, to);
    }
    expect(reached).toBe(3);
    expect(new Set(all.intents.map(({ id }) => id)).size).toBe(2);
  });
});

const never = (): never => {
  throw new Error('there is a rule');
};
