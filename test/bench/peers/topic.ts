import { setTimeout as pause } from 'node:timers/promises';
import { Kafka, logLevel, type Consumer } from 'kafkajs';

/** As many as the topics of the product have. */
export const PARTITIONS = 8;

const clientOf = (brokers: readonly string[]): Kafka =>
  new Kafka({ clientId: 'carillon-bench', brokers: [...brokers], logLevel: logLevel.NOTHING });

const MADE_WITHIN = 60_000;

/** A topic of a peer's own, made as those of the product are: one broker, so one replica, and what is in sync is it alone. */
export async function makeTopic(
  brokers: readonly string[],
  topic: string,
  numPartitions: number = PARTITIONS,
): Promise<void> {
  const admin = clientOf(brokers).admin();
  await admin.connect();
  try {
    await admin.createTopics({ waitForLeaders: false, topics: [{ topic, numPartitions }] });
    const isLed = async (): Promise<boolean> => (await admin.fetchTopicOffsets(topic)).length === numPartitions;
    for (const deadline = Date.now() + MADE_WITHIN; !(await isLed().catch(() => false)); await pause(50)) {
      if (Date.now() > deadline) throw new Error(`${topic} has no leaders after ${MADE_WITHIN} ms`);
    }
  } finally {
    await admin.disconnect();
  }
}

export type TopicRecord = {
  readonly partition: number;
  readonly key: string;
  readonly value: Buffer;
  readonly header: (name: string) => string | undefined;
};

let groups = 0;

/** Hands over every committed record that stands on a topic now, read by a program that knows nothing of the product. */
export async function readTopic(
  brokers: readonly string[],
  topic: string,
  each: (record: TopicRecord) => void,
): Promise<void> {
  const kafka = clientOf(brokers);
  const admin = kafka.admin();
  await admin.connect();
  const ends = await admin.fetchTopicOffsets(topic);
  await admin.disconnect();
  const missing = new Map(
    ends.filter(({ low, high }) => Number(high) > Number(low)).map(({ partition, high }) => [partition, Number(high)]),
  );
  if (missing.size === 0) return;
  const consumer = kafka.consumer({ groupId: `carillon-bench-${process.pid}-${(groups += 1)}` });
  await consumer.connect();
  try {
    await consumer.subscribe({ topic, fromBeginning: true });
    await untilRead(consumer, missing, each);
  } finally {
    await consumer.disconnect();
  }
}

const READ_WITHIN = 300_000;

function untilRead(
  consumer: Consumer,
  missing: Map<number, number>,
  each: (record: TopicRecord) => void,
): Promise<void> {
  return new Promise((settle, fail) => {
    const late = setTimeout(() => fail(new Error(`the topic was not read within ${READ_WITHIN} ms`)), READ_WITHIN);
    consumer
      .run({
        autoCommit: false,
        eachBatchAutoResolve: true,
        async eachBatch({ batch }) {
          const end = missing.get(batch.partition);
          if (end === undefined) return;
          for (const { offset, key, value, headers } of batch.messages) {
            if (Number(offset) >= end) break;
            each({
              partition: batch.partition,
              key: key?.toString() ?? '',
              value: value ?? Buffer.alloc(0),
              header: (name) => headers?.[name]?.toString(),
            });
          }
          if (Number(batch.lastOffset()) + 1 >= end) missing.delete(batch.partition);
          if (missing.size > 0) return;
          clearTimeout(late);
          settle();
        },
      })
      .catch(fail);
  });
}

/** What comes onto a topic, as it is committed. */
export type Follower = {
  /** How often each key came. */
  readonly keys: ReadonlyMap<string, number>;
  /** Resolves when so many records have come in all. */
  reach(total: number): Promise<void>;
  stop(): Promise<void>;
};

export async function followTopic(brokers: readonly string[], topic: string): Promise<Follower> {
  const groupId = `carillon-bench-${process.pid}-${(groups += 1)}`;
  const consumer = clientOf(brokers).consumer({ groupId, maxWaitTimeInMs: 100 });
  await consumer.connect();
  await consumer.subscribe({ topic, fromBeginning: true });
  const keys = new Map<string, number>();
  let total = 0;
  let heard: () => void = () => undefined;
  await consumer.run({
    autoCommit: false,
    async eachBatch({ batch }) {
      for (const { key } of batch.messages) {
        const text = key?.toString() ?? '';
        keys.set(text, (keys.get(text) ?? 0) + 1);
      }
      total += batch.messages.length;
      heard();
    },
  });
  return {
    keys,
    reach: (wanted) =>
      new Promise((settle, fail) => {
        const late = setTimeout(
          () => fail(new Error(`${total} of ${wanted} came within ${READ_WITHIN} ms`)),
          READ_WITHIN,
        );
        heard = () => {
          if (total < wanted) return;
          clearTimeout(late);
          settle();
        };
        heard();
      }),
    stop: () => consumer.disconnect(),
  };
}

/** How often each id stands on a topic. */
export async function countIds(
  brokers: readonly string[],
  topic: string,
  idOf: (record: TopicRecord) => string | undefined,
): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  await readTopic(brokers, topic, (record) => {
    const id = idOf(record);
    if (id !== undefined) counts.set(id, (counts.get(id) ?? 0) + 1);
  });
  return counts;
}

/** What is wrong with a log on which each of these ought to stand exactly once. */
export function compareStored(acknowledged: readonly string[], stored: ReadonlyMap<string, number>): readonly string[] {
  const lost = acknowledged.filter((id) => !stored.has(id)).length;
  const repeated = acknowledged.filter((id) => (stored.get(id) ?? 0) > 1).length;
  return [
    ...(acknowledged.length === 0 ? ['nothing was acknowledged'] : []),
    ...(lost > 0 ? [`${lost} of ${acknowledged.length} were acknowledged and are not stored`] : []),
    ...(repeated > 0 ? [`${repeated} of ${acknowledged.length} are stored more than once`] : []),
  ];
}
