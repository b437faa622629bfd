import type { BatchStage, PartitionState, EvaluationOutput } from '@carillon/ports';
import { openEmbedded } from '@carillon/adapter-embedded';
import type { KafkaLog } from '@carillon/adapter-kafka';
import { systemClock } from '@carillon/adapter-system';
import { createRecordCodecs, type AvroRecordCodecs } from '@carillon/contracts';
import { createEncoder, createEvaluateStage } from '@carillon/stages';
import {
  configurationOf,
  givenIds,
  givenRuleBook,
  notification,
  ORDERS,
  PAID_MAIL,
  stream,
  template,
  noRuleStates,
  neverYield,
} from '@carillon/testing/given';
import { startKafka, type KafkaService } from '@carillon/testing/services';
import { canStart } from '@carillon/testing/services/needs';
import type { OrderEvent } from '../corpus.ts';
import { type Bench, CannotRun, type Side } from '../harness/bench.ts';
import { createRecords, openProductLog } from '../kafka-log.ts';
import { connectKafkajs } from '../peers/raw-kafkajs.ts';
import { PARTITIONS, readTopic } from '../peers/topic.ts';
import { RULES } from '../rule-set.ts';
import { shared } from '../started-once.ts';
import { temporaryFolder } from '../temporary-folder.ts';

/** The log that is read, again and again until a round is over. */
const EVENTS = 40_000;
const BATCH = 500;
/** What the engine takes at a time. */
const BATCH_RECORDS = 500;
const BATCH_BYTES = 1024 * 1024;
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
  start: (on: Recorded) => Promise<{ pass(): Promise<Pass>; readonly close?: () => Promise<void> }>,
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
async function openCodecs(): Promise<{ readonly codecs: AvroRecordCodecs; readonly close: () => Promise<void> }> {
  const folder = await temporaryFolder();
  const embedded = await openEmbedded({ dataDir: folder.path, clock: systemClock });
  return {
    codecs: await createRecordCodecs(embedded.registry, systemClock.now),
    async close() {
      await embedded.close();
      await folder.remove();
    },
  };
}

let groups = 0;

/** One pass in a group of its own, from the first batch that has come: joining a group is no part of reading. */
async function replay(
  log: KafkaLog,
  stage: BatchStage<EvaluationOutput>,
  encode: ReturnType<typeof createEncoder>,
): Promise<Pass> {
  let begun = 0;
  let events = 0;
  let intents = 0;
  const { promise: read, resolve: done, reject: failed } = Promise.withResolvers<void>();
  const consumption = await log.consume({
    group: `bench-${process.pid}-${(groups += 1)}`,
    topic: TOPIC,
    maxRecords: BATCH_RECORDS,
    maxBytes: BATCH_BYTES,
    async assigned(partition) {
      let state: PartitionState = { partition, configNumber: configuration.number, watermark: 0 };
      return {
        from: 0,
        async handle(records) {
          if (events === 0) begun = performance.now();
          const result = await stage.handle(records, state);
          ({ state } = result);
          events += records.length;
          intents += result.outputs.map(encode).filter(({ topic }) => topic === 'carillon.intents').length;
          if (events >= EVENTS) done();
        },
        lost: async () => undefined,
      };
    },
    failed: (_partition, error) => failed(error),
  });
  await read;
  const seconds = (performance.now() - begun) / 1000;
  await consumption.stop();
  return { events, intents, seconds };
}

/** The evaluate stage as the engine has it, over the product's own consumer; what it gives is encoded, counted and let go. */
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
      slice: neverYield,
      ruleStates: noRuleStates,
      book: givenRuleBook(),
    });
    return {
      pass: () => replay(log, stage, createEncoder({ log, codecs, ids: givenIds })),
      close,
    };
  },
);

/** Measured in the same way. */
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
  what: `A recorded log of ${EVENTS.toLocaleString('en')} events of 732 bytes (8 partitions, one broker, Kafka 4.3) is evaluated again: read by the product's consumer, judged by its evaluate
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
