import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { ConfigResourceTypes, Kafka, logLevel } from 'kafkajs';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { describeWith } from '../../../../test/support/requirements.ts';
import { startKafka, type KafkaService } from '../../src/services/index.ts';
import { selfSigned } from '../../src/smtp/index.ts';

const TIMEOUT = 300_000;

const clientOf = (kafka: KafkaService): Kafka =>
  new Kafka({ clientId: 'test', brokers: [...kafka.brokers], logLevel: logLevel.NOTHING });

const isOpen = (address: string): Promise<boolean> =>
  new Promise((settle) => {
    const [host = '', port = ''] = address.split(':');
    const socket = connect(Number(port), host);
    socket.once('connect', () => settle(true)).once('error', () => settle(false));
    socket.once('connect', () => socket.destroy());
  });

/** Made, and known to every broker: they learn of it one after the other. */
async function createTopic(kafka: KafkaService, topic: string): Promise<void> {
  const admin = clientOf(kafka).admin();
  await admin.connect();
  await admin.createTopics({ topics: [{ topic, numPartitions: 1 }], waitForLeaders: false });
  await admin.disconnect();
  for (const broker of kafka.brokers) {
    const asked = new Kafka({ brokers: [broker], logLevel: logLevel.NOTHING }).admin();
    await asked.connect();
    const hasLeader = async (): Promise<void> => {
      const { topics } = await asked.fetchTopicMetadata({ topics: [topic] });
      expect(topics[0]?.partitions[0]?.leader).toBeGreaterThan(0);
    };
    try {
      await vi.waitFor(hasLeader, { timeout: 60_000, interval: 50 });
    } finally {
      await asked.disconnect();
    }
  }
}

async function send(kafka: KafkaService, topic: string, value: string): Promise<void> {
  const producer = clientOf(kafka).producer();
  await producer.connect();
  await producer.send({ topic, acks: -1, messages: [{ value }] });
  await producer.disconnect();
}

async function readFirst(kafka: KafkaService, topic: string, count: number): Promise<readonly string[]> {
  const consumer = clientOf(kafka).consumer({ groupId: `test-${Math.random()}` });
  await consumer.connect();
  await consumer.subscribe({ topic, fromBeginning: true });
  const values: string[] = [];
  await new Promise<void>((settle, fail) => {
    const eachMessage = ({ message }: { message: { value: Buffer | null } }): Promise<void> => {
      values.push(String(message.value));
      if (values.length >= count) settle();
      return Promise.resolve();
    };
    consumer.run({ eachMessage }).catch(fail);
  });
  await consumer.disconnect();
  return values;
}

describeWith('kafka', 'Apache Kafka for tests', () => {
  describe.each(['4.3.1', '3.9.2'] as const)('%s, one node', (version) => {
    const { cert, key } = selfSigned('localhost');
    let kafka: KafkaService;
    beforeAll(async () => {
      const security = { cert, key, users: { alice: 'secret' } };
      kafka = await startKafka({ version, security, properties: { 'message.max.bytes': '54321' } });
    }, TIMEOUT);
    afterAll(() => kafka?.stop(), TIMEOUT);

    test('serves a client with the requested settings', async () => {
      const admin = clientOf(kafka).admin();
      await admin.connect();
      const { brokers } = await admin.describeCluster();
      const { resources } = await admin.describeConfigs({
        includeSynonyms: false,
        resources: [{ type: ConfigResourceTypes.BROKER, name: '1' }],
      });
      await admin.disconnect();
      expect(brokers).toEqual([{ nodeId: 1, host: '127.0.0.1', port: Number(kafka.brokers[0]?.split(':')[1]) }]);
      const entries = resources[0]?.configEntries ?? [];
      expect(entries.find(({ configName }) => configName === 'message.max.bytes')?.configValue).toBe('54321');
      expect(brokers[0]?.port).toBeLessThan(32_768);
    });

    const describeAs = async (password: string, ca: string): Promise<number> => {
      const admin = new Kafka({
        brokers: [...kafka.securedBrokers],
        logLevel: logLevel.NOTHING,
        ssl: { ca: [ca] },
        sasl: { mechanism: 'plain', username: 'alice', password },
        connectionTimeout: 30_000,
        retry: { retries: 0 },
      }).admin();
      try {
        await admin.connect();
        return (await admin.describeCluster()).brokers[0]?.port ?? 0;
      } finally {
        await admin.disconnect();
      }
    };

    test('with TLS and passwords accepts clients with the right password and a trusted certificate', async () => {
      expect(await describeAs('secret', cert)).toBe(Number(kafka.securedBrokers[0]?.split(':')[1]));
      await expect(describeAs('guess', cert)).rejects.toThrow(/authentication/i);
      await expect(describeAs('secret', selfSigned('localhost').cert)).rejects.toThrow(/certificate/i);
    });

    test(
      'keeps what it acknowledged over kill -9',
      async () => {
        await createTopic(kafka, 'kept');
        await send(kafka, 'kept', 'before');
        await kafka.kill();
        expect(await isOpen(kafka.brokers[0] ?? '')).toBe(false);
        await kafka.restart();
        await send(kafka, 'kept', 'after');
        expect(await readFirst(kafka, 'kept', 2)).toEqual(['before', 'after']);
      },
      TIMEOUT,
    );

    test(
      'leaves nothing behind when it is stopped',
      async () => {
        await kafka.stop();
        expect(kafka.nodes.map(({ running }) => running)).toEqual([false]);
        expect(existsSync(kafka.dataDir)).toBe(false);
      },
      TIMEOUT,
    );
  });

  test(
    'three nodes continue when one is killed, and accept it again',
    async () => {
      const kafka = await startKafka({ nodes: 3 });
      try {
        await createTopic(kafka, 'replicated');
        await send(kafka, 'replicated', 'first');
        await kafka.nodes[1]?.kill();
        expect(kafka.nodes.map(({ running }) => running)).toEqual([true, false, true]);
        await send(kafka, 'replicated', 'second');
        await kafka.nodes[1]?.restart();
        expect(await readFirst(kafka, 'replicated', 2)).toEqual(['first', 'second']);
      } finally {
        await kafka.stop();
      }
    },
    TIMEOUT * 2,
  );

  test('reports the error of a broker that does not start', async () => {
    await expect(startKafka({ properties: { 'process.roles': 'nonsense' } })).rejects.toThrow(
      /Kafka node 1 ended before it was ready.*nonsense/s,
    );
  });
});
