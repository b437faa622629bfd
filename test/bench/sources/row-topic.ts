import { setTimeout as sleep } from 'node:timers/promises';
import { Kafka, logLevel } from 'kafkajs';

const COME_WITHIN = 180_000;

/** Records on a topic, counted by its offsets. */
export type TopicEnds = {
  count(): Promise<number>;
  /** Resolves once the topic has as many, to the moment by `performance.now()`. */
  until(count: number): Promise<number>;
  close(): Promise<void>;
};

export async function openTopicEnds(brokers: readonly string[], topic: string): Promise<TopicEnds> {
  const admin = new Kafka({ clientId: 'carillon-bench', brokers: [...brokers], logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  const count = async (): Promise<number> => {
    const ends = await admin.fetchTopicOffsets(topic);
    return ends.reduce((sum, { high }) => sum + Number(high), 0);
  };
  return {
    count,
    async until(wanted) {
      for (const deadline = performance.now() + COME_WITHIN; ; await sleep(1)) {
        const records = await count();
        if (records >= wanted) return performance.now();
        if (performance.now() > deadline) throw new Error(`${records} of ${wanted} records came to ${topic}`);
      }
    },
    close: () => admin.disconnect(),
  };
}
