import type { NewRecord } from '@carillon/ports';
import { KAFKA_API, type RequestFate } from '@carillon/testing/faults';
import { Kafka, logLevel, type Producer } from 'kafkajs';
import { afterEach, describe, expect, test } from 'vitest';
import { describeWith } from '../../../../test/support/requirements.ts';
import type { KafkaConnection, KafkaLog } from '../src/index.ts';
import { createAppender } from '../src/producing/appender.ts';
import { createDisposableProducer, type DisposableProducer } from '../src/producing/disposable-producer.ts';
import { createWatermarks } from '../src/watermarks.ts';
import { runningKafka, type RunningKafka } from './running-kafka.ts';

const FAULTS = 200;
const WRITERS = 12;
const TIMEOUT = 300_000;
/** Faults of requests, in rotation. A plain delay is no fault and is not counted. */
const FATES: readonly RequestFate[] = ['lose-answer', { delay: 15 }, 'lose-answer', 'cut-before', 'cut-within'];

const recordOf = (value: string, partition: number): NewRecord => ({
  topic: 'carillon.events',
  partition,
  key: value,
  value: Buffer.from(value),
  headers: {},
});

/** How often each value stands on the partitions, from where they ended before. */
async function countStored(log: KafkaLog, from: readonly number[]): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  for (const [partition, start] of from.entries()) {
    for (let next = start; ;) {
      const records = await log.read('carillon.events', partition, next, 1000);
      for (const record of records) {
        const value = Buffer.from(record.value).toString();
        counts.set(value, (counts.get(value) ?? 0) + 1);
      }
      const last = records.at(-1);
      if (!last) break;
      next = last.offset + 1;
    }
  }
  return counts;
}

const endsOf = (log: KafkaLog): Promise<readonly number[]> =>
  Promise.all([0, 1, 2, 3].map(async (partition) => (await log.bounds('carillon.events', partition)).end));

/** One try more within a send, so that many sends are rejected. */
const impatient = (connection: KafkaConnection): DisposableProducer =>
  createDisposableProducer(connection, { initialRetryTime: 5, maxRetryTime: 10, retries: 1 });

/** The planted bug: whoever throws the producer away gets the same one again. */
function kept(connection: KafkaConnection): () => DisposableProducer {
  const only = impatient(connection);
  let connected: Promise<void> | undefined;
  const shared: DisposableProducer = {
    connect: () => (connected ??= only.connect()),
    send: (messages) => only.send(messages),
    discard: () => undefined,
  };
  return () => shared;
}

/** Appends through one lane while sends are rejected again and again; tells what was acknowledged and is not there. */
async function countMissing(
  kafka: RunningKafka,
  makeProducer: () => DisposableProducer,
): Promise<{ readonly missing: number; readonly doubled: number; readonly rejected: number }> {
  const { proxy } = kafka;
  const log = await kafka.open();
  const from = await endsOf(log);
  let rejected = 0;
  const counting = (): DisposableProducer => {
    const made = makeProducer();
    return {
      ...made,
      send: (messages) =>
        made.send(messages).catch((error: unknown) => {
          rejected += 1;
          throw error;
        }),
    };
  };
  const options = { lanes: 1, appendTimeout: 300, maxQueuedBytes: 1_000_000 };
  const appender = createAppender(
    counting,
    () => 8,
    createWatermarks(() => undefined),
    options,
  );
  const acknowledged: string[] = [];
  for (let at = 0; at < 24; at += 1) {
    let tries = 0;
    proxy.decide = ({ apiKey }) => {
      if (apiKey !== KAFKA_API.produce || at % 3 > 0) return 'pass';
      tries += 1;
      // Stored, but nobody hears of it until the call is refused; the next record is another one.
      return tries === 1 ? 'lose-answer' : 'cut-before';
    };
    const value = `rejecting-${String(at).padStart(2, '0')}`;
    await appender.append([recordOf(value, 0)]).then(
      () => acknowledged.push(value),
      () => undefined,
    );
  }
  proxy.decide = () => 'pass';
  const stored = await countStored(log, from);
  appender.close();
  await log.close();
  const missing = acknowledged.filter((value) => !stored.has(value)).length;
  return { missing, doubled: [...stored.values()].filter((count) => count > 1).length, rejected };
}

describeWith('kafka', 'the log on Kafka while responses to appends get lost', () => {
  describe.each(['4.3.1', '3.9.2'] as const)('on Kafka %s', (version) => {
    const running: () => RunningKafka = runningKafka({ version });
    afterEach(() => {
      running().proxy.decide = () => 'pass';
    });

    test(
      `keeps every acknowledged record at its offset after ${FAULTS} faults`,
      async () => {
        const { proxy } = running();
        const log = await running().open({ appendTimeout: 8000 });
        const from = await endsOf(log);
        const acknowledged = new Map<string, { readonly partition: number; readonly offset: number }>();
        let faults = 0;
        let turn = 0;
        let refused = 0;
        let calls = 0;
        proxy.decide = ({ apiKey }) => {
          if (apiKey !== KAFKA_API.produce || faults >= FAULTS || Math.random() > 0.5) return 'pass';
          const fate = FATES[(turn += 1) % FATES.length] ?? 'pass';
          if (typeof fate === 'string') faults += 1;
          return fate;
        };
        const write = async (writer: number): Promise<void> => {
          for (let at = 0; faults < FAULTS; at += 1) {
            calls += 1;
            const records = [0, 1, 2].map((part) => recordOf(`${writer}-${at}-${part}`, (writer + at) % 4));
            const offsets = await log.append(records).catch(() => null);
            if (!offsets) refused += 1;
            for (const [index, offset] of (offsets ?? []).entries()) {
              acknowledged.set(`${writer}-${at}-${index}`, { partition: (writer + at) % 4, offset });
            }
          }
        };
        await Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)));
        proxy.decide = () => 'pass';
        const stored = await countStored(log, from);
        const missing = [...acknowledged.keys()].filter((value) => !stored.has(value));
        const doubled = [...stored.values()].filter((count) => count > 1).length;
        console.info(
          `Kafka ${version}: ${faults} faults, ${acknowledged.size} acknowledged, ${missing.length} missing, ` +
            `${doubled} doubled, ${refused} of ${calls} calls refused`,
        );
        expect(faults).toBeGreaterThanOrEqual(FAULTS);
        expect(missing).toEqual([]);
        // Where all is refused nothing can be missing: most calls have to have gone well in spite of the faults.
        expect(acknowledged.size).toBeGreaterThan(FAULTS);
        expect(refused).toBeLessThan(calls / 2);
        const sample = [...acknowledged].filter((_, index) => index % 25 === 0);
        for (const [value, { partition, offset }] of sample) {
          const [record] = await log.read('carillon.events', partition, offset, 1);
          expect(Buffer.from(record?.value ?? []).toString()).toBe(value);
        }
        await log.close();
      },
      TIMEOUT,
    );

    test(
      'discards a producer after its send was rejected, and this test detects it if not',
      async () => {
        const { connection } = running();
        const ours = await countMissing(running(), () => impatient(connection));
        const planted = await countMissing(running(), kept(connection));
        console.info(`Kafka ${version}: thrown away ${JSON.stringify(ours)}, kept ${JSON.stringify(planted)}`);
        expect(ours.rejected).toBeGreaterThan(7);
        expect(ours.missing).toBe(0);
        expect(planted.missing).toBeGreaterThan(0);
      },
      TIMEOUT,
    );

    test(
      'with unpatched kafkajs loses or duplicates records: three concurrent sends of an idempotent producer, one lost response',
      async () => {
        const { proxy } = running();
        const log = await running().open();
        const from = await endsOf(log);
        let lost = 0;
        let doubled = 0;
        let rounds = 0;
        // Which of the three sends is hit is chance.
        for (; rounds < 40 && lost + doubled === 0; rounds += 1) {
          const round = rounds;
          const client = new Kafka({ clientId: 'stock', brokers: [...proxy.brokers], logLevel: logLevel.NOTHING });
          const producer: Producer = client.producer({ idempotent: true, maxInFlightRequests: 1 });
          await producer.connect();
          const send = (value: string): Promise<unknown> =>
            producer.send({ topic: 'carillon.events', acks: -1, messages: [{ key: value, value, partition: 0 }] });
          await send(`${round}-before`);
          let swallowed = false;
          proxy.decide = ({ apiKey }) => {
            if (apiKey !== KAFKA_API.produce || swallowed) return 'pass';
            swallowed = true;
            return 'lose-answer';
          };
          const values = [1, 2, 3].map((at) => `${round}-stock-${at}`);
          const outcomes = await Promise.allSettled(values.map((value) => send(value)));
          proxy.decide = () => 'pass';
          await producer.disconnect();
          const stored = await countStored(log, from);
          for (const [at, value] of values.entries()) {
            const count = stored.get(value) ?? 0;
            if (outcomes[at]?.status === 'fulfilled' && count === 0) lost += 1;
            if (count > 1) doubled += 1;
          }
        }
        console.info(
          `Kafka ${version}, kafkajs as it comes: ${lost} lost, ${doubled} doubled in ${rounds} lost answers`,
        );
        expect(lost + doubled).toBeGreaterThan(0);
        await log.close();
      },
      TIMEOUT,
    );
  });
});
