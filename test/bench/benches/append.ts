import { startKafka, type KafkaService } from '@carillon/testing/services';
import { canStart } from '@carillon/testing/services/needs';
import { type Bench, CannotRun, type Comparison, type OpenSide, type Reading, type Side } from '../harness/bench.ts';
import { closedLoop } from '../harness/load.ts';
import { BROKER } from '../http/cluster-stand.ts';
import { createRecords, openProductLog, type EventRecord } from '../kafka-log.ts';
import { connectPlatformatic } from '../peers/platformatic.ts';
import { connectKafkajs } from '../peers/raw-kafkajs.ts';
import { compareStored, countIds, makeTopic, PARTITIONS } from '../peers/topic.ts';
import { shared } from '../started-once.ts';
import { secondsOf } from '../warm-up.ts';

/** Records in a `send` of a peer, and records that wait in the product at any time. */
const BATCH = 500;
const WAITING = 1000;

const broker = shared<KafkaService>(
  async () => {
    if (!canStart('kafka')) throw new CannotRun('Kafka 4.3 is not in the cache: npm run services -- fetch kafka');
    return startKafka();
  },
  (kafka) => kafka.stop(),
);

type Appending = {
  readonly topic: string;
  round(seconds: number, next: () => EventRecord, done: (id: string) => void): Promise<Reading>;
  close(): Promise<void>;
};

/** All clients run in the process of the bench, each in its own rounds. */
function appendSide(name: string, start: (brokers: readonly string[]) => Promise<Appending>): Side {
  async function open(): Promise<OpenSide> {
    const kafka = await broker.take();
    const appending = await start(kafka.brokers);
    const appended: string[] = [];
    const records = createRecords(name.replaceAll(/\W+/g, '-'), PARTITIONS);
    return {
      processes: { bench: process.pid, broker: kafka.nodes[0]?.pid ?? 0 },
      round: (round) => appending.round(secondsOf(round), records.next, (id) => appended.push(id)),
      async verify() {
        const stored = await countIds(kafka.brokers, appending.topic, ({ header }) => header('event_id'));
        return compareStored(appended, stored);
      },
      async close() {
        await appending.close();
        await broker.release();
      },
    };
  }
  return { name, syncs: BROKER, open };
}

/** Sends of so many records, one after the other. */
async function inBatches(
  seconds: number,
  next: () => EventRecord,
  done: (id: string) => void,
  send: (records: EventRecord[]) => Promise<void>,
): Promise<Reading> {
  const { done: sends, ...rest } = await closedLoop({ open: 1, seconds }, async () => {
    const records = Array.from({ length: BATCH }, next);
    await send(records);
    for (const { key } of records) done(key);
  });
  return { seconds: rest.seconds, done: sends * BATCH };
}

type BatchClient = {
  readonly send: (records: EventRecord[]) => Promise<void>;
  readonly disconnect: () => Promise<void>;
};

/** A peer that is handed whole batches, on a topic of its own. */
const batches = (name: string, connect: (brokers: readonly string[], topic: string) => Promise<BatchClient>): Side =>
  appendSide(name, async (brokers) => {
    const topic = `bench.${name.replaceAll(/\W+/g, '-')}.${Date.now()}`;
    await makeTopic(brokers, topic);
    const { send, disconnect } = await connect(brokers, topic);
    return {
      topic,
      round: (seconds, next, done) => inBatches(seconds, next, done, send),
      close: disconnect,
    };
  });

const product = appendSide('carillon', async (brokers) => {
  const log = await openProductLog(brokers);
  return {
    topic: 'carillon.events',
    async round(seconds, next, done) {
      return closedLoop({ open: WAITING, seconds }, async () => {
        const record = next();
        await log.append([record]);
        done(record.key);
      });
    },
    close: () => log.close(),
  };
});

const above = (to: string, floor: number, goal: number): Comparison => ({
  side: 'carillon',
  to,
  measure: 'rate',
  wanted: 'at least',
  floor,
  goal,
});

export const append: Bench = {
  name: 'append',
  title: 'Appending to Kafka',
  what: `Records as the gateway makes them, of 732 bytes and six headers, go to a topic of 8 partitions on one broker (Kafka 4.3). Carillon is called as by
requests: ${WAITING} callers wait at any time, each with one record, and its batches are its own affair. The peers are handed ${BATCH} records at a time
and send the next when those are acknowledged. All are idempotent, with acks=all. Afterwards the topics are read: what was acknowledged stands there once.`,
  cases: [
    {
      title: 'Records of 732 bytes',
      counted: 'records',
      sides: [
        product,
        batches('kafkajs', connectKafkajs),
        batches('@platformatic/kafka', async (brokers, topic) => connectPlatformatic(brokers, topic)),
      ],
      comparisons: [above('kafkajs', 0.9, 0.97), above('@platformatic/kafka', 0.6, 0.75)],
    },
  ],
};
