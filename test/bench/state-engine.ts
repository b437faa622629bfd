import { openMongo } from '@carillon/adapter-mongodb';
import type { NotificationBody } from '@carillon/domain/configuration';
import { streamTable } from '@carillon/domain/configuration';
import { createTicker } from '@carillon/engine';
import type { Intent } from '@carillon/domain/deliveries';
import type { Clock, EvaluationOutput, NewRecord, OutputSink, RuleState } from '@carillon/ports';
import { Progress, startLoop, startStageConsumer, type ConsumerWatch } from '@carillon/runtime';
import { createEvaluateStage, prepareAppend, tickRecord } from '@carillon/stages';
import { orderShop, notification, ORDER_PAID, ORDERS, stream } from '@carillon/testing/given';
import { createDirectWire, createMemoryBackend } from '@carillon/testing/memory';
import { startKafka, startMongoDb } from '@carillon/testing/services';
import { canStart } from '@carillon/testing/services/needs';
import { openTopology, type Backing, type Topology } from '@carillon/testing/topology';
import { COLLECTIONS } from '@carillon/stores';
import { onSqlite } from './backing.ts';
import { CannotRun } from './harness/bench.ts';
import { openProductLog } from './kafka-log.ts';
import { shared } from './started-once.ts';

export const PARTITIONS = 8;
const EVENTS = 'carillon.events';
/** Records of one append. */
const APPEND_SIZE = 1_000;
/** As in the engine. */
const TICK_INTERVAL_MS = 1_000;

/** Streams by the rule that each one has. Their events are alike. */
export type BenchStream = 'renewing' | 'stateless' | 'waiting' | 'firing' | 'soon';

const RECIPIENTS = { from: 'event', to: { email: 'event.customer.email' }, unique_id: 'event_id' } as const;
type Rule = NotificationBody['rules'][string];
const RULES: Readonly<Record<BenchStream, Pick<Rule, 'when'> & Partial<Rule>>> = {
  // Each event of the kind "placed" moves a deadline, so it changes the state of its entity.
  renewing: { when: 'event.kind == "placed"', after_last: '30d', unless: 'event.kind == "paid"' },
  stateless: { when: 'event.kind == "never"' },
  waiting: { when: 'event.kind == "placed"', after: '1h', unless: 'event.kind == "paid"' },
  firing: { when: 'event.kind == "placed"' },
  soon: { when: 'event.kind == "placed"', after: '1s', unless: 'event.kind == "paid"' },
};
const STREAMS = Object.keys(RULES) as readonly BenchStream[];

export type StateEngine = {
  readonly topology: Topology;
  /** Appends an event for each entity. */
  append(stream: BenchStream, entities: readonly number[], kind?: (entity: number) => string): Promise<void>;
  /** Appends one event. Resolves when it is evaluated and its position saved. */
  appendAndWait(stream: BenchStream, entity: number): Promise<void>;
  /** Called with each intent that is on the log. */
  onIntent: (intent: Intent) => void;
  /** Appends a tick to each partition. */
  tick(): Promise<void>;
  /** Records that were evaluated. */
  done(): number;
  /** Resolves when every record so far is evaluated. */
  caughtUp(): Promise<void>;
  /** Starts to append ticks as the engine does. */
  startTicks(): void;
  /** Writes states that wait for 30 days, without events. */
  fill(stream: BenchStream, entities: number): Promise<void>;
  faults(): readonly string[];
  close(): Promise<void>;
};

/** Counts what a consumer does, and keeps what went wrong. */
function createConsumerWatch() {
  let done = 0;
  const troubles: string[] = [];
  const watch: ConsumerWatch = {
    consumes: () => undefined,
    begun: () => (ended) => {
      if ('fates' in ended) done += Object.values(ended.fates).reduce((sum, count) => sum + count, 0);
    },
    failed: ({ partition, error }) => void troubles.push(`partition ${partition}: ${String(error)}`),
    stopped: ({ partition }) => {
      troubles.push(`partition ${partition} stands still`);
      return () => undefined;
    },
    left: () => undefined,
    skipped: () => undefined,
  };
  return { ...watch, troubles, done: () => done };
}

/** Events as the gateway makes them. Each one has a number of its own. */
function createRecords({ ids, clock, data, ports }: Topology) {
  const { streams } = streamTable(ports.configuration.current());
  let number = 0;
  return (name: BenchStream, entity: number, kind: string): NewRecord => {
    const of = streams.get(`shop/${name}`);
    if (!of) throw new Error(`there is no stream ${name}`);
    number += 1;
    const body = { kind, order_id: `o-${entity}`, customer: { name: 'Ada', email: 'ada@example.com' }, number };
    const request = { stream: of, body, bytes: new TextEncoder().encode(JSON.stringify(body)) };
    const prepared = prepareAppend(
      { ...request, identity: null, principal: 'api_key:main', traceparent: null },
      { ids, now: clock.now(), partitions: data.log.partitions(EVENTS) },
    );
    if (!prepared.ok) throw prepared.error;
    return prepared.value.record;
  };
}

/** What evaluates events in an engine, over one of the backends. */
export async function openStateEngine(backing: (clock: Clock) => Promise<Backing>): Promise<StateEngine> {
  const topology = await openTopology({ backing });
  const { data, ids } = topology;
  const { log, checkpoints, ruleStates } = data;
  await topology.publish(
    ...orderShop(),
    ...STREAMS.flatMap((name) => [
      stream(name, { ...ORDERS, key: 'event.order_id' }),
      notification(name, {
        ...ORDER_PAID,
        rules: { rule: { stream: name, recipients: RECIPIENTS, ...RULES[name] } },
      }),
    ]),
  );
  const progress = new Progress();
  const watch = createConsumerWatch();
  const { troubles } = watch;
  const stage = createEvaluateStage(topology.ports);
  const common = { group: 'engine', topic: EVENTS, log, checkpoints, progress } as const;
  const { liveSink } = topology;
  const sink: OutputSink<EvaluationOutput> = {
    async write(outputs) {
      await liveSink.write(outputs);
      for (const output of outputs) if (output.kind === 'intent') engine.onIntent(output.intent);
    },
  };
  const consumption = await startStageConsumer({ ...common, stage, sink, watch });
  const stopTicks: (() => Promise<void>)[] = [];
  const recordOf = createRecords(topology);

  const engine: StateEngine = {
    topology,
    onIntent: () => undefined,
    async append(name, entities, kind = () => 'placed') {
      for (let at = 0; at < entities.length; at += APPEND_SIZE) {
        const some = entities.slice(at, at + APPEND_SIZE);
        await log.append(some.map((entity) => recordOf(name, entity, kind(entity))));
      }
    },
    async appendAndWait(name, entity) {
      const record = recordOf(name, entity, 'placed');
      const [offset = 0] = await log.append([record]);
      await progress.passed([{ partition: record.partition, offset }], 600_000);
    },
    async tick() {
      await log.append(Array.from({ length: log.partitions(EVENTS) }, (_, partition) => tickRecord(partition)));
    },
    done: () => watch.done(),
    async caughtUp() {
      for (let partition = 0; partition < log.partitions(EVENTS); partition += 1) {
        const { end } = await log.bounds(EVENTS, partition);
        if (end > 0) await progress.passed([{ partition, offset: end - 1 }], 600_000);
      }
    },
    startTicks() {
      const round = createTicker({ log, ruleStates, clock: topology.clock, progress });
      const loop = startLoop(TICK_INTERVAL_MS, round, (error) => void troubles.push(String(error)));
      stopTicks.push(() => loop.stop());
    },
    async fill(name, entities) {
      // One entity of the stream shows what a state looks like.
      await engine.append(name, [0]);
      await engine.caughtUp();
      const [sample] = await ruleStates.load([ids.derive('state', `shop/${name}`, 'o-0', '')]);
      if (!sample) throw new Error('the entity has no state');
      const stateOf = (entity: number): RuleState => ({
        ...sample,
        id: ids.derive('state', `shop/${name}`, `o-${entity}`, ''),
        partition: recordOf(name, entity, 'placed').partition,
        offset: 0,
        data: sample.data.replaceAll('"o-0"', `"o-${entity}"`),
      });
      for (let at = 1; at < entities; at += APPEND_SIZE) {
        const size = Math.min(APPEND_SIZE, entities - at);
        await ruleStates.save(Array.from({ length: size }, (_, index) => stateOf(at + index)));
      }
    },
    faults: () => [...troubles.slice(0, 1), ...topology.witness.failures.map(String).slice(0, 1)],
    async close() {
      for (const stop of stopTicks) await stop();
      await consumption.stop();
      await topology.close();
    },
  };
  return engine;
}

export const openEmbeddedEngine = (): Promise<StateEngine> => openStateEngine(onSqlite(PARTITIONS));

/** The servers of all cases on a cluster. Each case has a database of its own; the topics are shared, so one case runs at a time. */
const servers = shared(
  async () => {
    const missing = (['kafka', 'mongodb'] as const).filter((name) => !canStart(name));
    if (missing.length > 0) throw new CannotRun(`it needs servers; npm run services -- fetch ${missing.join(' ')}`);
    const [kafka, mongodb] = await Promise.all([startKafka(), startMongoDb()]);
    return { kafka, mongodb };
  },
  async ({ kafka, mongodb }) => void (await Promise.all([kafka.stop(), mongodb.stop()])),
);

export type ClusterEngine = StateEngine & { readonly mongodbUrl: string };

/** Kafka has the log, FerretDB the checkpoints and states. What rules do not use is in memory. */
export async function openClusterEngine(): Promise<ClusterEngine> {
  const { kafka, mongodb } = await servers.take();
  try {
    const engine = await openStateEngine(async (clock) => {
      const memory = createMemoryBackend({ clock, partitions: PARTITIONS }).connect(createDirectWire());
      const database = `bench-states-${process.pid}`;
      const stores = await openMongo({ url: mongodb.url, database, clock, collections: COLLECTIONS });
      const log = await openProductLog(kafka.brokers);
      return {
        data: { ...memory, ...stores, log },
        async close() {
          await log.close();
          await stores.close();
        },
      };
    });
    return {
      ...engine,
      mongodbUrl: mongodb.url,
      async close() {
        await engine.close();
        await servers.release();
      },
    };
  } catch (error) {
    await servers.release();
    throw error;
  }
}
