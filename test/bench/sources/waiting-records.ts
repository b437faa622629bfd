import { setTimeout as sleep } from 'node:timers/promises';
import { startProduct } from '@carillon/testing';
import { startKafka } from '@carillon/testing/services';
import { canStart } from '@carillon/testing/services/needs';
import { Kafka, logLevel } from 'kafkajs';
import { CannotRun, type BenchCase, type OpenSide, type Side } from '../harness/bench.ts';
import { connectKafkajs } from '../peers/raw-kafkajs.ts';
import { makeTopic } from '../peers/topic.ts';
import { configure, countEmbedded, type Files } from '../product.ts';
import { shared } from '../started-once.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { whileHeld } from './held-process.ts';
import { createRows } from './order-rows.ts';
import { openLogEnds } from './read-log.ts';
import { PRODUCT, PRODUCT_SYNCS } from './reading-product.ts';
import { openTopicEnds } from './row-topic.ts';

const WAITING = 100_000;
/** Records that are on their way before the time begins. */
const AHEAD = 20_000;
const BATCH_SIZE = 1_000;
const CLIENT = 'kafkajs consume and send';

const kafka = shared(
  async () => {
    if (!canStart('kafka')) throw new CannotRun('it needs Kafka; npm run services -- fetch kafka');
    return startKafka();
  },
  (server) => server.stop(),
);

/** A topic of eight partitions, and rows as JSON that are sent to it. */
async function openTopic(topic: string) {
  const { brokers } = await kafka.take();
  await makeTopic(brokers, topic);
  const producer = await connectKafkajs(brokers, topic);
  const nextRows = createRows();
  return {
    brokers,
    send: async (count: number): Promise<void> => {
      for (let sent = 0; sent < count; sent += BATCH_SIZE) {
        const rows = nextRows(Math.min(BATCH_SIZE, count - sent));
        await producer.send(rows.map((row) => ({ key: String(row.id), value: JSON.stringify(row) })));
      }
    },
    close: async (): Promise<void> => {
      await producer.disconnect();
      await kafka.release();
    },
  };
}

const filesOf = (brokers: readonly string[], topic: string): Files => ({
  'workspaces/shop/workspace.yaml': 'name: Shop\n',
  'workspaces/shop/integrations/bus.yaml': `kind: kafka\nbrokers: ${JSON.stringify(brokers)}\n`,
  'workspaces/shop/streams/orders.yaml': `from: { integration: bus, topics: { ${topic}: event.id } }\n`,
});

/** The product is held still while records are sent. */
const reading: Side = {
  name: PRODUCT,
  syncs: PRODUCT_SYNCS,
  async open(): Promise<OpenSide> {
    const topic = 'orders-for-carillon';
    const { brokers, send, close } = await openTopic(topic);
    const folder = await temporaryFolder();
    const product = await startProduct({
      dataDir: folder.path,
      cwd: folder.path,
      env: { CARILLON_ALLOWED_PRIVATE_ADDRESSES: '127.0.0.1' },
    });
    await configure(product, filesOf(brokers, topic));
    const ends = openLogEnds(folder.path);
    const events = (): number => ends.count('carillon.events');
    // Configuration markers stand on the log too. A topic is read from its end, so the first records may come too early.
    for (const before = events(); events() < before + BATCH_SIZE; await sleep(1_000)) await send(BATCH_SIZE);
    let [taken, read] = [0, 0];
    return {
      processes: { carillon: product.pid },
      async round() {
        const before = events();
        await whileHeld(product.pid, () => send(AHEAD + WAITING));
        const begun = await ends.until('carillon.events', before + AHEAD);
        const ended = await ends.until('carillon.events', before + AHEAD + WAITING);
        read += AHEAD + WAITING;
        taken += events() - before;
        return { done: WAITING, seconds: (ended - begun) / 1000 };
      },
      async verify() {
        await product.kill('SIGTERM');
        const counts = await countEmbedded(folder.path);
        const twice = [...counts.values()].filter((count) => count > 1).length;
        return taken === read && twice === 0
          ? []
          : [`${read} records were sent; ${taken} are on the log, ${twice} of them more than once`];
      },
      async close() {
        ends.close();
        await product.kill('SIGTERM');
        await folder.remove();
        await close();
      },
    };
  },
};

/** A consumer that sends each batch to another topic and then commits its offsets. It is paused while records are sent. */
const forwarding: Side = {
  name: CLIENT,
  syncs: 'nothing: acknowledged by the broker (acks=all), which does not force records to disk',
  async open(): Promise<OpenSide> {
    const [from, to] = ['orders-for-kafkajs', 'orders-sent-by-kafkajs'];
    const { brokers, send, close } = await openTopic(from);
    await makeTopic(brokers, to);
    const producer = await connectKafkajs(brokers, to);
    const client = new Kafka({ clientId: 'carillon-bench', brokers: [...brokers], logLevel: logLevel.NOTHING });
    const consumer = client.consumer({ groupId: 'carillon-bench-forwarding', maxWaitTimeInMs: 100 });
    await consumer.connect();
    await consumer.subscribe({ topic: from, fromBeginning: true });
    await consumer.run({
      eachBatch: ({ batch }) => producer.send(batch.messages.map(({ key, value }) => ({ key, value }))),
    });
    const ends = await openTopicEnds(brokers, to);
    let sent = 0;
    return {
      async round() {
        consumer.pause([{ topic: from }]);
        await send(AHEAD + WAITING);
        consumer.resume([{ topic: from }]);
        const begun = await ends.until(sent + AHEAD);
        sent += AHEAD + WAITING;
        const ended = await ends.until(sent);
        return { done: WAITING, seconds: (ended - begun) / 1000 };
      },
      async verify() {
        const records = await ends.count();
        return records === sent ? [] : [`${sent} records were sent, and ${records} came`];
      },
      async close() {
        await consumer.disconnect();
        await producer.disconnect();
        await ends.close();
        await close();
      },
    };
  },
};

export const waitingRecords: BenchCase = {
  title: `${WAITING.toLocaleString('en')} records of a topic that wait`,
  counted: 'records',
  sides: [reading, forwarding],
  comparisons: [{ side: PRODUCT, to: CLIENT, measure: 'rate', wanted: 'at least', floor: 0.5, goal: 0.8 }],
};
