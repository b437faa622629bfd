import type { LogRecord, NewRecord, TopicName } from '@carillon/ports';
import { createWitness, freshName } from '@carillon/testing';
import { KAFKA_API } from '@carillon/testing/faults';
import { afterEach, expect, it } from 'vitest';
import { describeWith } from '../../../../test/support/requirements.ts';
import type { KafkaLog } from '../src/index.ts';
import { sharedKafka, START_TIMEOUT } from './running-kafka.ts';

const MESSAGES = 640;
/** Half as many as post at once in a burst of the benches. */
const BATCH_SIZE = 32;
const PARTITIONS = 8;
const value = new TextEncoder().encode('x'.repeat(700));

describeWith('kafka', 'sending messages over the log on Kafka', () => {
  const running = sharedKafka();
  const ending: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const end of ending.splice(0).toReversed()) await end();
  });

  const open = async (): Promise<KafkaLog> => {
    const log = await running().open();
    ending.push(() => log.close());
    return log;
  };
  const recordFor = (topic: TopicName, key: string): NewRecord => ({
    topic,
    partition: Number(key) % PARTITIONS,
    key,
    value,
    headers: {},
  });

  /** Reads a topic as a role does, and appends what `next` makes of each batch before it goes on. */
  async function follow(topic: TopicName, next?: TopicName): Promise<{ readonly read: () => number }> {
    const log = await open();
    let read = 0;
    const assigned = createWitness<number>();
    const consumption = await log.consume({
      group: freshName('group'),
      topic,
      maxRecords: 500,
      maxBytes: 1_000_000,
      assigned: async (partition) => {
        const { end } = await log.bounds(topic, partition);
        assigned.saw(partition);
        return {
          from: end,
          async handle(records: readonly LogRecord[], partitionEnd: () => number) {
            // Of a role the lag is shown after each batch, from this (libs/runtime/test/stage-consumer.test.ts).
            expect(partitionEnd()).toBeGreaterThan(records.at(-1)?.offset ?? 0);
            if (next) await log.append(records.map(({ key }) => recordFor(next, key)));
            read += records.length;
          },
          lost: async () => undefined,
        };
      },
      failed: (_partition, error) => expect.unreachable(String(error)),
    });
    ending.push(() => consumption.stop());
    await assigned.until('all partitions are assigned', ({ length }) => length >= PARTITIONS);
    return { read: () => read };
  }

  it(
    'takes less than two requests per message in a burst, and no request only to report a lag',
    async () => {
      const gateway = await open();
      await follow('carillon.events', 'carillon.triggers');
      await follow('carillon.triggers', 'carillon.intents');
      await follow('carillon.intents', 'carillon.outcomes');
      const told = await follow('carillon.outcomes');
      const shown = await follow('carillon.events');
      const send = async (keys: readonly number[]): Promise<void> => {
        const goal = told.read() + keys.length;
        await Promise.all(keys.map((key) => gateway.append([recordFor('carillon.events', String(key))])));
        await expect.poll(told.read, { timeout: START_TIMEOUT, interval: 5 }).toBe(goal);
      };
      const round = (at: number): readonly number[] => Array.from({ length: BATCH_SIZE }, (_, n) => at + n);
      await send(round(0));

      const asked = new Map<number, number>();
      running().proxy.decide = ({ apiKey }) => {
        asked.set(apiKey, (asked.get(apiKey) ?? 0) + 1);
        return 'pass';
      };
      for (let at = 0; at < MESSAGES; at += BATCH_SIZE) await send(round(at));
      await expect.poll(shown.read, { timeout: START_TIMEOUT }).toBe(MESSAGES + BATCH_SIZE);
      running().proxy.decide = () => 'pass';
      expect(asked.get(KAFKA_API.listOffsets)).toBeUndefined();
      // What an idle role asks for goes by the clock, and is not a message's.
      const ofMessages = (asked.get(KAFKA_API.produce) ?? 0) + (asked.get(KAFKA_API.fetch) ?? 0);
      expect(ofMessages / MESSAGES).toBeLessThan(2);
    },
    START_TIMEOUT,
  );
});
