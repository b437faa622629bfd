import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmbedded } from '@carillon/adapter-embedded';
import type { KafkaLog } from '@carillon/adapter-kafka';
import { systemClock } from '@carillon/adapter-system';
import { createRecordCodecs, type AvroRecordCodecs } from '@carillon/contracts';
import { createEvaluateStage, type PartitionState } from '@carillon/stages';
import {
  configurationOf,
  givenIds,
  givenRuleBook,
  notification,
  ORDERS,
  PAID_MAIL,
  stream,
  template,
} from '@carillon/testing/given';
import { startKafka, type KafkaService } from '@carillon/testing/services';
import { canStart } from '@carillon/testing/services/needs';
import type { OrderEvent } from '../corpus.ts';
import { type Bench, CannotRun, type Side } from '../harness/bench.ts';
import { createRecords, openProductLog } from '../kafka-log.ts';
import { connectKafkajs } from '../peers/raw-kafkajs.ts';
import { PARTITIONS, readTopic } from '../peers/topic.ts';
import { RULES } from '../rule-set.ts';
import { shared } from '../shared.ts';

/** The log that is read, again and again until a round is over. */
const EVENTS = 40_000;
const BATCH = 500;
/** What the engine takes at a time. */
const BATCH_RECORDS = 500;
const TOPIC = 'carillon.events';
/** One of each shape. */
const RULES_HERE = RULES.slice(0, 5);
const STORES_NOTHING = 'nothing: it only reads';

type Recorded = { readonly kafka: KafkaService; readonly log: KafkaLog; readonly intents: number };

const recorded = shared<Recorded>(
  async () => {
    if (!canStart('kafka')) throw new CannotRun('it needs Kafka; npm run services -- fetch kafka');
    const kafka = await startKafka();
    const log = await openProductLog(kafka.brokers);
    const producer = await connectKafkajs(kafka.brokers, TOPIC);
    const records = createRecords('history', PARTITIONS);
    let intents = 0;
    for (let written = 0; written < EVENTS; written += BATCH) {
      const batch = Array.from({ length: BATCH }, records.next);
      for (const { value } of batch) {
        const event = JSON.parse(value.toString()) as OrderEvent;
        intents += RULES_HERE.filter(({ fires }) => fires(event)).length;
      }
      await producer.send(batch);
    }
    await producer.disconnect();
    return { kafka, log, intents };
  },
  async ({ kafka, log }) => {
    await log.close();
    await kafka.stop();
  },
);

type Pass = { readonly events: number; readonly intents: number; readonly seconds: number };

/** Reads the whole log over and over; every pass has to come to the same. */
function reading(
  name: string,
  expected: (on: Recorded) => Omit<Pass, 'seconds'>,
  start: (on: Recorded) => Promise<{ pass(): Promise<Pass>; close?(): Promise<void> }>,
): Side {
  return {
    name,
    syncs: STORES_NOTHING,
    async open() {
      const on = await recorded.take();
      const started = await start(on);
      const wanted = expected(on);
      const wrong = new Set<string>();
      return {
        processes: { bench: process.pid, broker: on.kafka.nodes[0]?.pid ?? 0 },
        async round({ seconds: wantedSeconds }) {
          let done = 0;
          let seconds = 0;
          while (seconds < wantedSeconds) {
            const pass = await started.pass();
            done += pass.events;
            seconds += pass.seconds;
            if (pass.events !== wanted.events || pass.intents !== wanted.intents) {
              wrong.add(
                `${pass.events} events gave ${pass.intents} intents: ${wanted.events} and ${wanted.intents} are right`,
              );
            }
          }
          return { done, seconds };
        },
        verify: async () => [...wrong],
        async close() {
          await started.close?.();
          await recorded.release();
        },
      };
    },
  };
}

const configuration = configurationOf([
  template('order-news', PAID_MAIL),
  stream('orders', ORDERS),
  notification('order-news', {
    channels: { email: { template: 'order-news' } },
    rules: Object.fromEntries(
      RULES_HERE.map(({ name, when }) => [
        name,
        {
          stream: 'orders',
          when,
          recipients: { from: 'event', to: { email: 'event.customer.email' }, unique_id: 'event_id' },
        },
      ]),
    ),
  }),
]);

/** The codecs with the schemas of a registry, as a role has them. */
async function openCodecs(): Promise<{ readonly codecs: AvroRecordCodecs; close(): Promise<void> }> {
  const dataDir = await mkdtemp(join(tmpdir(), 'carillon-bench-'));
  const embedded = await openEmbedded({ dataDir, clock: systemClock });
  return {
    codecs: await createRecordCodecs(embedded.registry, systemClock.now),
    async close() {
      await embedded.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** The evaluate stage as the engine has it, over what it reads itself; what it gives is encoded, counted and let go. */
const evaluating = reading(
  'carillon evaluates',
  ({ intents }) => ({ events: EVENTS, intents }),
  async ({ log }) => {
    const { codecs, close } = await openCodecs();
    const stage = createEvaluateStage({
      log,
      configuration: { at: async () => configuration },
      codecs,
      ids: givenIds,
      clock: systemClock,
      book: givenRuleBook(),
    });
    return {
      async pass() {
        const begun = performance.now();
        let events = 0;
        let intents = 0;
        for (let partition = 0; partition < log.partitions(TOPIC); partition += 1) {
          const { start, end } = await log.bounds(TOPIC, partition);
          let state: PartitionState = { partition, configNumber: configuration.number, clocks: {} };
          for (let from = start; from < end;) {
            const records = await log.read(TOPIC, partition, from, BATCH_RECORDS);
            const result = await stage.handle(records, state);
            ({ state } = result);
            events += records.length;
            intents += result.outputs.filter(({ topic }) => topic === 'carillon.intents').length;
            from = (records.at(-1)?.offset ?? end) + 1;
          }
        }
        return { events, intents, seconds: (performance.now() - begun) / 1000 };
      },
      close,
    };
  },
);

/** From the first record that has come: joining a group is no part of reading. */
const consuming = reading(
  'kafkajs consumes',
  () => ({ events: EVENTS, intents: 0 }),
  async ({ kafka }) => ({
    async pass() {
      let begun = 0;
      let events = 0;
      await readTopic(kafka.brokers, TOPIC, () => {
        if (events === 0) begun = performance.now();
        events += 1;
      });
      return { events, intents: 0, seconds: (performance.now() - begun) / 1000 };
    },
  }),
);

export const history: Bench = {
  name: 'history',
  title: 'Reading history',
  what: `A recorded log of ${EVENTS.toLocaleString('en')} events of 732 bytes (8 partitions, one broker, Kafka 4.3) is evaluated again: read by the product's log, judged by its evaluate
stage under ${RULES_HERE.length} rules, one of each shape, and the intents encoded and let go. There is no command for it yet; these are the parts that one
would be made of. Beside it, kafkajs consumes the same topic and looks at no byte of it. Every pass has to give all events, and the intents that closures written by hand count.`,
  cases: [
    {
      title: 'A recorded log',
      counted: 'events',
      sides: [evaluating, consuming],
      comparisons: [
        {
          side: 'carillon evaluates',
          to: 'kafkajs consumes',
          measure: 'rate',
          wanted: 'at least',
          floor: 0.5,
          goal: 0.8,
        },
      ],
    },
  ],
};
