import { streamTable } from '@carillon/domain/configuration';
import { startDelivery, type DeliveryRole } from '@carillon/delivery';
import { createTicker } from '@carillon/engine';
import type { LogRecord, NewRecord } from '@carillon/ports';
import { Progress, startStageConsumer } from '@carillon/runtime';
import { createEvaluateStage, prepareAppend } from '@carillon/stages';
import { ORDER_PAID, ORDERS, orderShop, stream } from '@carillon/testing/given';
import { openTopology, untilFound, type Topology } from '@carillon/testing/topology';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openDataFolder, type RealBackend } from './backends.ts';

const COUNT = Number(process.env['OVERDUE'] ?? 100_000);
/** Entities whose waits one commit ends at most. */
const COMMIT = 1_000;
const FEW = Math.min(COUNT, 3_000);
const HOUR = 3_600_000;
const STOP = 26 * HOUR;
const MINUTES = 60_000;
const WAITING = 0;
const QUIET = 1;
const EVENTS = 'carillon.events';
/** Bound of the p95 beside the deadlines: FACTOR times the value alone, plus EXTRA_MS, as for other neighbours. */
const FACTOR = 2;
const EXTRA_MS = 50;

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
beforeEach(async () => {
  backend = await openDataFolder();
});
afterEach(() => backend.close());

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

type Engine = Awaited<ReturnType<typeof startEngine>>;

/** Places orders, and stops the process once all of them wait. Returns the p95 of the other partition. */
async function placeOrders(count: number): Promise<{ readonly alone: number; readonly last: number }> {
  const first = await startEngine(backend, 0);
  const { topology, progress } = first;
  await topology.publish(...orderShop(UNPAID), stream('orders', { ...ORDERS, key: 'event.order_id' }));
  const orders = ordersOf(topology, WAITING);
  let last = 0;
  for (let appended = 0; appended < count; appended += COMMIT) {
    const records = Array.from({ length: Math.min(COMMIT, count - appended) }, () => orders.next().value as NewRecord);
    last = (await topology.data.log.append(records)).at(-1) ?? last;
  }
  await progress.passed([{ partition: WAITING, offset: last }], 30 * MINUTES);
  const alone = await delayOf(first, () => false);
  await first.stop();
  return { alone, last };
}

/** Appends the first record after a stop, which moves the watermark past all deadlines. */
async function appendFirst({ topology, tick }: Engine, kind: FirstRecord, last: number): Promise<void> {
  const { log } = topology.data;
  if (kind === 'an event') {
    // The order of the first event is one of those that wait.
    await log.append([ordersOf(topology, WAITING).next().value as NewRecord]);
    return;
  }
  await untilFound('a tick of the partition', async () => {
    await tick();
    const { end } = await log.bounds(EVENTS, WAITING);
    return end > last + 1 ? true : undefined;
  });
}
type FirstRecord = 'a tick' | 'an event';

/** Compares the intents on the log with the orders. Returns the commits in which deadlines were decided. */
async function expectDecided({ topology }: Engine, count: number): Promise<number> {
  const { codecs } = topology.ports;
  const decode =
    <Value>(codec: { decode(bytes: Uint8Array): { ok: boolean; value?: Value } }) =>
    (record: LogRecord) =>
      codec.decode(record.value).value as Value;
  const intents = await readAll(topology, 'carillon.intents', decode(codecs.intent));
  expect(new Set(intents.map(({ slot }) => slot.uniqueId)).size).toBe(count);
  expect(intents).toHaveLength(count);
  const now = topology.clock.now();
  expect(intents.filter(({ notAfter, deadline = 0 }) => notAfter !== deadline + HOUR || notAfter >= now)).toEqual([]);
  const commits = (await readAll(topology, 'carillon.evaluations', decode(codecs.evaluation)))
    .map(({ rules }) => rules.reduce((sum, { firedByDeadline }) => sum + firedByDeadline, 0))
    .filter((fired) => fired > 0);
  expect(Math.max(...commits)).toBeLessThanOrEqual(COMMIT);
  expect(commits.reduce((sum, fired) => sum + fired, 0)).toBe(count);
  expect(topology.witness.failures).toEqual([]);
  return commits.length;
}

/** Starts what sends messages. No message of this proof may reach a provider. */
function startSending({ topology }: Engine): Promise<DeliveryRole> {
  const ignore = (): void => undefined;
  const watch = {
    ...topology.witness,
    attempt: () => ignore,
    accountState: ignore,
    queued: ignore,
    sends: ignore,
    alert: ignore,
    trouble: ignore,
  };
  return startDelivery({ aloneOnStore: true }, { ...topology.ports, watch });
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

/** Resolves when nothing waits. */
const untilDecided = ({ topology }: Engine): Promise<true> =>
  untilFound(
    'nothing waits',
    async () => ((await topology.data.ruleStates.earliestDue(WAITING)) === null ? true : undefined),
    30 * MINUTES,
  );

describe('deadlines that passed while the process was stopped for a day', () => {
  it(
    `are decided in commits of ${COMMIT}, ${COUNT} of them, without blocking another partition`,
    async () => {
      const { alone, last } = await placeOrders(COUNT);
      const engine = await startEngine(backend, STOP);
      await appendFirst(engine, 'a tick', last);
      let isDecided = false;
      const decided = untilDecided(engine).then(() => (isDecided = true));
      const beside = await delayOf(engine, () => !isDecided);
      await decided;
      const commits = await expectDecided(engine, COUNT);
      console.log(`overdue: ${commits} commits; p95 of the other partition ${alone} ms alone, ${beside} ms beside`);
      expect(beside).toBeLessThanOrEqual(FACTOR * alone + EXTRA_MS);
      await engine.stop();
    },
    60 * MINUTES,
  );

  it.each<FirstRecord>(['a tick', 'an event'])(
    `end ${FEW} messages as EXPIRED, if the first record is %s`,
    async (kind) => {
      const { last } = await placeOrders(FEW);
      const engine = await startEngine(backend, STOP);
      const delivery = await startSending(engine);
      await appendFirst(engine, kind, last);
      const { ledger } = engine.topology.data;
      const counts = await untilFound(
        'the end of every message',
        async () => {
          const found = await ledger.countByState();
          return Object.values(found).reduce((sum, count) => sum + count, 0) === FEW && !found.WAITING
            ? found
            : undefined;
        },
        30 * MINUTES,
      );
      expect(counts).toMatchObject({ EXPIRED: FEW });
      await expectDecided(engine, FEW);
      await delivery.close();
      await engine.stop();
    },
    60 * MINUTES,
  );
});
