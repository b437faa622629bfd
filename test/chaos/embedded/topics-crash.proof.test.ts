import { setTimeout as pause } from 'node:timers/promises';
import { cli, untilFound } from '@carillon/testing';
import kafkajs, { type Producer } from 'kafkajs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { planting } from '../../harness/planting.ts';
import { scratch } from '../../integration/product/shop.ts';
import { describeWith } from '../../support/requirements.ts';
import { sharedServer } from '../../support/shared-servers.ts';
import { readTopic } from '../changes-on-log.ts';
import { evaluateAgain } from '../evaluate-again.ts';
import { KilledReader } from './killed-reader.ts';

/*
 * The product is killed at random while a producer writes to a topic: from outside, and from inside before and after append
 * and position. CARILLON_SOURCE_KILLS makes the run shorter.
 */

const KILLS = Number(process.env['CARILLON_SOURCE_KILLS'] ?? 15);
const PARTITIONS = 4;
/** Few of many events notify somebody, so that deliveries keep up. */
const NOTIFIED_SHARE = 50;
const TIMEOUT_MS = 20 * 60_000;
const TOPIC = `orders.${crypto.randomUUID().slice(0, 8)}`;

const HELPER = JSON.stringify(new URL('../killed-reading.ts', import.meta.url).href);
const KILLABLE = planting([
  {
    file: 'apps/cli/src/process/foundation.ts',
    from: 'return createTopicSources({ guard });',
    to: `const { killedTopics } = await import(${HELPER});
      return killedTopics(createTopicSources({ guard }), env['KILL_READING']);`,
  },
]);

const filesFor = (brokers: readonly string[]): Readonly<Record<string, string>> => ({
  'workspaces/shop/workspace.yaml': 'name: Shop\n',
  'workspaces/shop/integrations/bus.yaml': `kind: kafka\nbrokers: [${brokers.join(', ')}]\n`,
  'workspaces/shop/streams/orders.yaml': `from: { integration: bus, topics: { ${TOPIC}: event.partition } }\n`,
  'workspaces/shop/templates/paid/email.yaml': 'subject: Order {{ n }}\nfrom: Shop <shop@example.com>\n',
  'workspaces/shop/templates/paid/email.txt': 'It is paid.\n',
  'workspaces/shop/notifications/order-paid.yaml': `name: Order paid
channels:
  email: { template: paid }
rules:
  paid:
    stream: orders
    when: event.paid
    recipients:
      from: event
      to: { email: '"order-" + string(event.n) + "@example.com"' }
      unique_id: event_id
`,
});

describeWith('kafka', 'An embedded engine that is killed while it reads a topic', () => {
  let place: Awaited<ReturnType<typeof scratch>>;
  let reader: KilledReader;
  let brokers: readonly string[];
  let producer: Producer;
  const sent = Array.from({ length: PARTITIONS }, () => 0);
  beforeAll(async () => {
    ({ brokers } = await sharedServer('kafka'));
    place = await scratch();
    const kafka = new kafkajs.Kafka({ brokers: [...brokers], logLevel: kafkajs.logLevel.NOTHING });
    const admin = kafka.admin();
    await admin.connect();
    await admin.createTopics({ topics: [{ topic: TOPIC, numPartitions: PARTITIONS }], waitForLeaders: false });
    await admin.disconnect();
    producer = kafka.producer();
    await producer.connect();
    const env = { CARILLON_ALLOWED_PRIVATE_ADDRESSES: '127.0.0.1' };
    reader = new KilledReader({ folder: place.folder, env, killable: KILLABLE });
  }, TIMEOUT_MS);
  afterAll(async () => {
    await producer.disconnect();
    await place.remove();
  });

  /** Resolves once the source runs and no record is left. */
  const untilRead = (): Promise<true> =>
    untilFound(
      'everything read',
      async () => {
        const { stdout } = await cli(['sources', '--json', '--workspace', 'shop'], { dataDir: reader.dataDir });
        const { items = [] } = JSON.parse(stdout || '{}') as { items?: { state: string; lag_records: number }[] };
        await pause(200);
        return (items[0]?.state === 'running' && items[0].lag_records === 0) || undefined;
      },
      TIMEOUT_MS,
    );

  /** Writes a few records to a random partition, numbered per partition. */
  async function write(): Promise<void> {
    const partition = Math.floor(Math.random() * PARTITIONS);
    const messages = Array.from({ length: 1 + Math.floor(Math.random() * 40) }, () => {
      const n = sent[partition] ?? 0;
      sent[partition] = n + 1;
      return { partition, value: JSON.stringify({ partition, n, paid: n % NOTIFIED_SHARE === 0 }) };
    });
    await producer.send({ topic: TOPIC, messages });
  }

  it(
    'has each record on the log once, in the order of its partition, and evaluates it again to the same intents',
    async () => {
      await reader.begin(filesFor(brokers), untilRead);
      let isOver = false;
      const writing = (async () => {
        while (!isOver) {
          await write();
          await pause(30);
        }
      })();
      for (let kills = 0; kills < KILLS; kills += 1) await reader.killOnce();
      isOver = true;
      await writing;
      const found = Array.from({ length: PARTITIONS }, (): number[] => []);
      const ids = new Set<string>();
      const data = await reader.openEvaluated(untilRead);
      for await (const records of readTopic(data.log, 'carillon.events')) {
        for (const { headers, value } of records) {
          if (headers['kind'] !== 'event') continue;
          ids.add(headers['event_id'] ?? '');
          const { partition, n } = JSON.parse(Buffer.from(value).toString()) as { partition: number; n: number };
          found[partition]?.push(n);
        }
      }
      expect(found).toEqual(sent.map((count) => Array.from({ length: count }, (_, n) => n)));
      const total = sent.reduce((sum, count) => sum + count, 0);
      expect(ids.size).toBe(total);
      const { appended, again } = await evaluateAgain(data.log, data.registry, reader.dataDir, async () => undefined);
      await data.close();
      expect(appended.size).toBe(sent.reduce((sum, count) => sum + Math.ceil(count / NOTIFIED_SHARE), 0));
      expect(again).toEqual(appended);
      console.info(`${total} records, ${KILLS} kills`);
    },
    TIMEOUT_MS,
  );
});
