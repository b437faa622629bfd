import { setTimeout as sleep } from 'node:timers/promises';
import { openMongo } from '@carillon/adapter-mongodb';
import { systemClock } from '@carillon/adapter-system';
import type { CheckpointStore, EventLog, NewRecord, TopicName } from '@carillon/ports';
import { createRecordSink, startStageConsumer } from '@carillon/runtime';
import { startKafka, startMongoDb } from '@carillon/testing/services';
import { canStart } from '@carillon/testing/services/needs';
import { openTopology } from '@carillon/testing/topology';
import { onSqlite } from './backing.ts';
import { createCorpus } from './corpus.ts';
import { CannotRun } from './harness/bench.ts';
import { openProductLog } from './kafka-log.ts';
import { shared } from './started-once.ts';

/** As many on either backend. */
const PARTITIONS = 8;
const SLOW_PARTITION = 0;

/** What a stage stands on. */
type Fixture = {
  readonly log: EventLog;
  readonly checkpoints: CheckpointStore;
  readonly topic: TopicName;
  readonly end: () => Promise<void>;
};

export type SlowPartition = {
  /** Appends so many records to the slow partition, or to the others in turn. */
  add(way: 'quick' | 'slow', count: number): Promise<void>;
  /** In the slow partition. */
  waiting(): number;
  /** In the others. */
  done(): number;
  faults(): Promise<readonly string[]>;
  close(): Promise<void>;
};

export type BatchTimes = {
  /** How long the stage takes for each batch of the first partition, and of the others, in milliseconds. */
  readonly slow: number;
  readonly quick: number;
};

/** One stage over all partitions of a topic, as the roles run theirs, which takes long about each batch of the first. */
async function consumePartitions({ log, checkpoints, topic, end }: Fixture, times: BatchTimes): Promise<SlowPartition> {
  const corpus = createCorpus();
  const handled = new Map<number, number>();
  const added = new Map<number, number>();
  const troubles: string[] = [];
  let quickAt = 0;
  const consumption = await startStageConsumer({
    group: 'bench',
    topic,
    log,
    sink: createRecordSink(log),
    checkpoints,
    watch: {
      consumes: () => undefined,
      begun: () => () => undefined,
      failed: ({ partition, error }) => void troubles.push(`partition ${partition} failed: ${String(error)}`),
      stopped: ({ partition }) => {
        troubles.push(`partition ${partition} stands still`);
        return () => undefined;
      },
      left: () => undefined,
      skipped: ({ partition, records }) => void troubles.push(`${records} records of ${partition} were not read`),
    },
    stage: {
      name: 'bench',
      async handle(records, state) {
        await sleep(state.partition === SLOW_PARTITION ? times.slow : times.quick);
        handled.set(state.partition, (handled.get(state.partition) ?? 0) + records.length);
        return { fates: records.map(() => ({ kind: 'done' })), outputs: [], state };
      },
    },
  });
  function recordIn(partition: number): NewRecord {
    added.set(partition, (added.get(partition) ?? 0) + 1);
    const value = Buffer.from(JSON.stringify(corpus.next()));
    return { topic, partition, key: `key-${partition}`, value, headers: {} };
  }
  const sum = (counts: ReadonlyMap<number, number>): number =>
    [...counts].reduce((all, [partition, count]) => all + (partition === SLOW_PARTITION ? 0 : count), 0);
  return {
    async add(way, count) {
      const places = Array.from({ length: count }, () =>
        way === 'slow' ? SLOW_PARTITION : 1 + ((quickAt += 1) % (PARTITIONS - 1)),
      );
      await log.append(places.map(recordIn));
    },
    waiting: () => (added.get(SLOW_PARTITION) ?? 0) - (handled.get(SLOW_PARTITION) ?? 0),
    done: () => sum(handled),
    faults: async () => [
      ...(sum(handled) === sum(added) ? [] : [`${sum(added)} records were appended, ${sum(handled)} handled`]),
      ...troubles.slice(0, 1),
    ],
    async close() {
      await consumption.stop();
      await end();
    },
  };
}

export async function slowPartitionEmbedded(times: BatchTimes): Promise<SlowPartition> {
  const topology = await openTopology({ backing: onSqlite(PARTITIONS) });
  const { log, checkpoints } = topology.data;
  return consumePartitions({ log, checkpoints, topic: 'carillon.events', end: () => topology.close() }, times);
}

const servers = shared(
  async () => {
    const missing = (['kafka', 'mongodb'] as const).filter((name) => !canStart(name));
    if (missing.length > 0) throw new CannotRun(`it needs servers; npm run services -- fetch ${missing.join(' ')}`);
    const [kafka, mongodb] = await Promise.all([startKafka(), startMongoDb()]);
    return { kafka, mongodb };
  },
  async ({ kafka, mongodb }) => void (await Promise.all([kafka.stop(), mongodb.stop()])),
);

/** Sides of one case share the servers, so each has a topic for itself. */
export async function slowPartitionOnKafka(topic: TopicName, times: BatchTimes): Promise<SlowPartition> {
  const { kafka, mongodb } = await servers.take();
  try {
    const log = await openProductLog(kafka.brokers);
    if (log.partitions(topic) !== PARTITIONS) throw new Error(`${topic} has ${log.partitions(topic)} partitions`);
    const stores = await openMongo({ url: mongodb.url, database: 'bench-slow', clock: systemClock });
    return await consumePartitions(
      {
        log,
        checkpoints: stores.checkpoints,
        topic,
        async end() {
          await log.close();
          await stores.close();
          await servers.release();
        },
      },
      times,
    );
  } catch (error) {
    await servers.release();
    throw error;
  }
}
