import { streamTable } from '@carillon/domain/configuration';
import { createTicker } from '@carillon/engine';
import type { LogRecord, NewRecord } from '@carillon/ports';
import { Progress, startStageConsumer } from '@carillon/runtime';
import { createEvaluateStage, prepareAppend } from '@carillon/stages';
import { ORDER_PAID, ORDERS, orderShop, stream } from '@carillon/testing/given';
import { openTopology, untilFound, type Topology } from '@carillon/testing/topology';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openDataFolder, type RealBackend } from './backends.ts';

const COUNT = Number(process.env['OVERDUE'] ?? 100_000);
/** Entities whose waits one commit ends at most. */
const COMMIT = 1_000;
const HOUR = 3_600_000;
const STOP = 26 * HOUR;
const MINUTES = 60_000;
const WAITING = 0;
const QUIET = 1;
const EVENTS = 'carillon.events';

const UNPAID = {
  ...ORDER_PAID,
  expires: '1h',
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

let backend: RealBackend;
beforeAll(async () => {
  backend = await openDataFolder();
});
afterAll(() => backend.close());

async function startEngine({ backing }: RealBackend, passed: number) {
  const topology = await openTopology({ backing });
  topology.clock.pass(passed);
  const progress = new Progress();
  const { log, checkpoints, ruleStates } = topology.data;
  const stage = createEvaluateStage(topology.ports);
  const common = { group: 'engine', topic: EVENTS, log, checkpoints, progress } as const;
  const consumption = await startStageConsumer({ ...common, stage, sink: topology.liveSink, watch: topology.witness });
  return {
    topology,
    progress,
    tick: createTicker({ log, ruleStates, clock: topology.clock, progress }),
    async stop() {
      await consumption.stop();
      await topology.close();
    },
  };
}

/** Orders whose events are in a partition. */
function* ordersOf(topology: Topology, partition: number): Generator<NewRecord> {
  const orders = streamTable(topology.ports.configuration.current()).streams.get('shop/orders');
  if (!orders) throw new Error('there is no stream');
  const partitions = topology.data.log.partitions(EVENTS);
  for (let number = 1; ; number += 1) {
    const status = partition === WAITING ? 'placed' : 'viewed';
    const body = { status, order_id: `${status}-${number}`, customer: { email: `a${number}@example.com` } };
    const request = { stream: orders, body, bytes: new TextEncoder().encode(JSON.stringify(body)) };
    const prepared = prepareAppend(
      { ...request, identity: null, principal: 'api_key:main', traceparent: null },
      { ids: topology.ids, now: topology.clock.now(), partitions },
    );
    if (!prepared.ok) throw prepared.error;
    const { record } = prepared.value;
    if (record.partition === partition) yield record;
  }
}

/** Milliseconds from the append of an event on the quiet partition to its saved position. 95 of 100 take at most this. */
async function delayOf({ topology, progress }: Awaited<ReturnType<typeof startEngine>>, goesOn: () => boolean) {
  const delays: number[] = [];
  for (const record of ordersOf(topology, QUIET)) {
    const begun = performance.now();
    const [offset = 0] = await topology.data.log.append([record]);
    await progress.passed([{ partition: QUIET, offset }], 10 * MINUTES);
    delays.push(performance.now() - begun);
    if (delays.length >= 200 && !goesOn()) break;
  }
  return delays.toSorted((a, b) => a - b)[Math.floor(delays.length * 0.95)] ?? 0;
}

async function readAll<Value>(
  { data }: Topology,
  topic: 'carillon.intents' | 'carillon.evaluations',
  decode: (record: LogRecord) => Value,
): Promise<readonly Value[]> {
  const found: Value[] = [];
  for (let partition = 0; partition < data.log.partitions(topic); partition += 1) {
    for (let from = 0; ;) {
      const page = await data.log.read(topic, partition, from, 5_000);
      const last = page.at(-1);
      if (!last) break;
      found.push(...page.map(decode));
      from = last.offset + 1;
    }
  }
  return found;
}

it(
  `${COUNT} deadlines that passed while the process was stopped for a day are decided in commits of ${COMMIT}, beside a partition that goes on`,
  async () => {
    const first = await startEngine(backend, 0);
    await first.topology.publish(...orderShop(UNPAID), stream('orders', { ...ORDERS, key: 'event.order_id' }));
    const orders = ordersOf(first.topology, WAITING);
    let offset = 0;
    for (let appended = 0; appended < COUNT; appended += COMMIT) {
      const records = Array.from(
        { length: Math.min(COMMIT, COUNT - appended) },
        () => orders.next().value as NewRecord,
      );
      offset = (await first.topology.data.log.append(records)).at(-1) ?? offset;
    }
    await first.progress.passed([{ partition: WAITING, offset }], 30 * MINUTES);
    const alone = await delayOf(first, () => false);
    await first.stop();

    const second = await startEngine(backend, STOP);
    const { codecs } = second.topology.ports;
    const { log, ruleStates } = second.topology.data;
    await untilFound('the partition is read to its end', async () => {
      await second.tick();
      const { end } = await log.bounds(EVENTS, WAITING);
      return end > offset + 1 ? true : undefined;
    });
    let isDecided = false;
    const decided = untilFound(
      'nothing waits',
      async () => ((await ruleStates.earliestDue(WAITING)) === null ? true : undefined),
      30 * MINUTES,
    ).then(() => (isDecided = true));
    const beside = await delayOf(second, () => !isDecided);
    await decided;

    const decode =
      <Value>(codec: { decode(bytes: Uint8Array): { ok: boolean; value?: Value } }) =>
      (record: LogRecord) =>
        codec.decode(record.value).value as Value;
    const intents = await readAll(second.topology, 'carillon.intents', decode(codecs.intent));
    expect(new Set(intents.map(({ slot }) => slot.uniqueId)).size).toBe(COUNT);
    expect(intents).toHaveLength(COUNT);
    const now = second.topology.clock.now();
    // `expires` counts from the deadline, so delivery ends them as EXPIRED.
    expect(intents.filter(({ notAfter, deadline = 0 }) => notAfter !== deadline + HOUR || notAfter >= now)).toEqual([]);
    const commits = (await readAll(second.topology, 'carillon.evaluations', decode(codecs.evaluation)))
      .map(({ rules }) => rules.reduce((sum, { firedByDeadline }) => sum + firedByDeadline, 0))
      .filter((count) => count > 0);
    expect(Math.max(...commits)).toBeLessThanOrEqual(COMMIT);
    expect(commits.reduce((sum, count) => sum + count, 0)).toBe(COUNT);
    expect(second.topology.witness.failures).toEqual([]);
    console.log(
      `overdue: ${commits.length} commits; p95 of the other partition ${alone} ms alone, ${beside} ms beside`,
    );
    await second.stop();
  },
  60 * MINUTES,
);
