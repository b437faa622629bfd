import { openKafkaHistory } from '@carillon/adapter-kafka';
import { startKafka } from '@carillon/testing/services';
import { canStart } from '@carillon/testing/services/needs';
import type { OrderEvent } from '../corpus.ts';
import { type BenchCase, CannotRun, type Side } from '../harness/bench.ts';
import { createRecords, openProductLog } from '../kafka-log.ts';
import { connectKafkajs } from '../peers/raw-kafkajs.ts';
import { PARTITIONS, readTopic } from '../peers/topic.ts';
import { shared } from '../started-once.ts';
import { comparing, COMPARES } from './comparing-side.ts';
import { EVENTS, isAdded } from './edited-rules.ts';

const BATCH_SIZE = 500;
const TOPIC = 'carillon.events';
const CONSUMES = 'kafkajs consumes';

const recorded = shared(
  async () => {
    if (!canStart('kafka')) throw new CannotRun('it needs Kafka; npm run services -- fetch kafka');
    const kafka = await startKafka();
    const log = await openProductLog(kafka.brokers);
    const { logId } = log;
    await log.close();
    const producer = await connectKafkajs(kafka.brokers, TOPIC);
    const records = createRecords('replay', PARTITIONS);
    let added = 0;
    for (let written = 0; written < EVENTS; written += BATCH_SIZE) {
      const batch = Array.from({ length: Math.min(BATCH_SIZE, EVENTS - written) }, records.next);
      added += batch.filter(({ value }) => isAdded(JSON.parse(value.toString()) as OrderEvent)).length;
      await producer.send(batch);
    }
    await producer.disconnect();
    return { kafka, logId, added };
  },
  ({ kafka }) => kafka.stop(),
);

const compares = comparing(async () => {
  const { kafka, logId, added } = await recorded.take();
  const history = await openKafkaHistory({ brokers: kafka.brokers, clientId: 'carillon-bench' }, logId);
  return {
    history,
    events: EVENTS,
    added,
    async release() {
      history.close();
      await recorded.release();
    },
  };
});

/** Measured from the first batch, because joining a group is no part of reading. */
const consumes: Side = {
  name: CONSUMES,
  syncs: 'nothing',
  async open() {
    const { kafka } = await recorded.take();
    const counts = new Set<number>();
    return {
      async round() {
        let begun = 0;
        let events = 0;
        await readTopic(kafka.brokers, TOPIC, () => {
          if (events === 0) begun = performance.now();
          events += 1;
        });
        counts.add(events);
        return { done: events, seconds: (performance.now() - begun) / 1_000 };
      },
      verify: async () => [...counts].filter((count) => count !== EVENTS).map((count) => `it read ${count} records`),
      close: () => recorded.release(),
    };
  },
};

export const comparingBesideKafkajs: BenchCase = {
  title: 'one edited rule of ten, on Kafka',
  counted: 'events',
  sides: [compares, consumes],
  comparisons: [
    { side: COMPARES, to: CONSUMES, measure: 'rate', wanted: 'at least', floor: 0.5, goal: 0.8 },
    { side: COMPARES, to: CONSUMES, measure: 'cpu', wanted: 'at most' },
  ],
};
