import { TOPIC_DEFINITIONS, type TopicRetention } from '@carillon/contracts';
import { type CarillonError, isId } from '@carillon/kernel';
import { KAFKA_API, startKafkaProxy } from '@carillon/testing/faults';
import { forgetTopics, startKafka, type KafkaService } from '@carillon/testing/services';
import { selfSigned } from '@carillon/testing';
import { ConfigResourceTypes, Kafka, logLevel, type Admin } from 'kafkajs';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { describeWith } from '../../../../test/support/requirements.ts';
import { sharedServer, takeTurn } from '../../../../test/support/shared-servers.ts';
import { adjustTopics, ensureTopics, inspectKafka, type KafkaConnection, openKafkaLog } from '../src/index.ts';
import { forOneBroker, freshLogId, START_TIMEOUT } from './running-kafka.ts';

const TIMEOUT = 180_000;
const caught = (work: Promise<unknown>): Promise<CarillonError> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  ) as never;

describeWith('kafka', 'Carillon’s own topics on Kafka', () => {
  let kafka: { readonly brokers: readonly string[] };
  let giveBack: () => void = () => undefined;
  let connection: KafkaConnection;
  let admin: Admin;
  const ensure = () => ensureTopics(connection, TOPIC_DEFINITIONS, forOneBroker);
  /** The first start that is refused: brokers need a moment to hear of a change. */
  const refusal = (): Promise<CarillonError> =>
    vi.waitFor(async () => (await caught(ensure())) ?? Promise.reject(new Error('started')), { timeout: TIMEOUT });
  const allTopics = async (): Promise<string[]> =>
    (await admin.listTopics()).filter((topic) => topic.startsWith('carillon.'));
  const deleteAll = (): Promise<void> => forgetTopics(kafka.brokers, 'carillon.');
  const alter = (name: string, configName: string, value: string): Promise<unknown> =>
    admin.alterConfigs({
      validateOnly: false,
      resources: [{ type: ConfigResourceTypes.TOPIC, name, configEntries: [{ name: configName, value }] }],
    });

  beforeAll(async () => {
    kafka = await sharedServer('kafka');
    giveBack = await takeTurn('topics');
    await deleteAll();
    connection = { brokers: kafka.brokers, clientId: 'carillon-test' };
    admin = new Kafka({ clientId: 'admin', brokers: [...kafka.brokers], logLevel: logLevel.NOTHING }).admin();
    await admin.connect();
  }, START_TIMEOUT);
  afterAll(async () => {
    await admin?.disconnect();
    giveBack();
  }, START_TIMEOUT);
  beforeEach(async () => {
    await ensure();
  }, TIMEOUT);
  /** Of a test that leaves topics behind which no other may find: making them anew takes seconds. */
  const spoilsTopics = (): void => onTestFinished(deleteAll, TIMEOUT);

  test('are created once with the log id, and later starts find the same', async () => {
    const again = await ensure();
    expect(again.created).toEqual([]);
    expect(isId('log', again.logId)).toBe(true);
    const log = await openKafkaLog({ connection });
    expect(log.logId).toBe(again.logId);
    expect(log.partitions('carillon.events')).toBe(TOPIC_DEFINITIONS['carillon.events'].partitions);
    expect(await log.read('carillon.config', 0, 0, 10)).toEqual([]);
    await log.close();
    expect(await inspectKafka(connection, TOPIC_DEFINITIONS, { singleBroker: true })).toEqual({
      missing: [],
      differences: [],
    });
  });

  test('form one log if four processes create them at the same time', { timeout: TIMEOUT }, async () => {
    await deleteAll();
    const all = await Promise.all(Array.from({ length: 4 }, ensure));
    expect(new Set(all.map(({ logId }) => logId)).size).toBe(1);
  });

  test('prevent the start if they have other settings: the error names topic, setting, found and required value', async () => {
    spoilsTopics();
    await alter('carillon.intents', 'retention.ms', '1000');
    const error = await refusal();
    expect(error.code).toBe('invalid_configuration');
    expect(error.message).toContain('carillon.intents: retention.ms is 1000, wanted 2592000000');
    // The default differs as well. Topics are never changed in place.
    expect(error.message).toContain('carillon.intents: message.timestamp.type is CreateTime, wanted LogAppendTime');
  });

  const DAY = 86_400_000;
  /** The settings of a topic that it does not have from the broker, once one of them has this value. */
  const settingsOnce = (name: string, setting: string, value: string): Promise<ReadonlyMap<string, string>> =>
    vi.waitFor(
      async () => {
        const { resources } = await admin.describeConfigs({
          includeSynonyms: false,
          resources: [{ type: ConfigResourceTypes.TOPIC, name }],
        });
        const entries = resources[0]?.configEntries ?? [];
        const settings = new Map(entries.map(({ configName, configValue }) => [configName, configValue]));
        expect(settings.get(setting)).toBe(value);
        return settings;
      },
      { timeout: TIMEOUT },
    );
  const unadjusted = (retention: Partial<TopicRetention>) =>
    vi.waitFor(
      async () => {
        const { differences } = await inspectKafka(connection, TOPIC_DEFINITIONS, { singleBroker: true, retention });
        expect(differences).toEqual([]);
      },
      { timeout: TIMEOUT },
    );

  test('have segments of a day, except topics that are kept for ever', async () => {
    await settingsOnce('carillon.events', 'segment.ms', String(DAY));
    await settingsOnce('carillon.audit', 'segment.ms', String(DAY));
    await settingsOnce('carillon.consents', 'segment.ms', String(7 * DAY));
    await settingsOnce('carillon.config', 'segment.ms', String(7 * DAY));
  });

  test('get the configured retention without being recreated, and keep their other settings', async () => {
    spoilsTopics();
    const others = {
      'message.timestamp.type': 'LogAppendTime',
      'max.message.bytes': '9000000',
      'segment.ms': String(7 * DAY),
    };
    await admin.alterConfigs({
      validateOnly: false,
      resources: [
        {
          type: ConfigResourceTypes.TOPIC,
          name: 'carillon.events',
          configEntries: Object.entries({
            ...others,
            'cleanup.policy': 'delete',
            'retention.ms': String(30 * DAY),
            'retention.bytes': '-1',
            'min.insync.replicas': '1',
            'unclean.leader.election.enable': 'false',
            'compression.type': 'gzip',
          }).map(([name, value]) => ({ name, value })),
        },
      ],
    });
    await settingsOnce('carillon.events', 'segment.ms', String(7 * DAY));
    // A topic of an earlier release is no reason not to start.
    await ensure();
    const retention = { 'carillon.events': 90 * DAY, 'carillon.intents': 7 * DAY, 'carillon.outcomes': null };
    const changed = await adjustTopics(connection, TOPIC_DEFINITIONS, { singleBroker: true, retention });
    expect(changed.map(({ topic, setting, wanted }) => `${topic} ${setting} ${wanted}`).toSorted()).toEqual([
      `carillon.events retention.ms ${90 * DAY}`,
      `carillon.events segment.ms ${DAY}`,
      `carillon.intents retention.ms ${7 * DAY}`,
      'carillon.outcomes retention.ms -1',
    ]);
    const events = await settingsOnce('carillon.events', 'retention.ms', String(90 * DAY));
    expect([events.get('compression.type'), events.get('max.message.bytes'), events.get('segment.ms')]).toEqual([
      'gzip',
      '9000000',
      String(DAY),
    ]);
    await settingsOnce('carillon.intents', 'message.timestamp.type', 'LogAppendTime');
    await unadjusted(retention);
    // A start knows no configuration yet, and refuses neither a shorter nor a longer time.
    await ensure();
    expect(await adjustTopics(connection, TOPIC_DEFINITIONS, { singleBroker: true, retention })).toEqual([]);
    // What is named no longer goes back to 30 days, and what is kept longer stays.
    await adjustTopics(connection, TOPIC_DEFINITIONS, { singleBroker: true });
    await settingsOnce('carillon.intents', 'retention.ms', String(30 * DAY));
    await settingsOnce('carillon.events', 'retention.ms', String(90 * DAY));
    await settingsOnce('carillon.outcomes', 'retention.ms', '-1');
  });

  test('are adjusted even if brokers refuse the change of another topic', async () => {
    spoilsTopics();
    const refusedByKafka = -5;
    const retention = { 'carillon.events': refusedByKafka, 'carillon.intents': 7 * DAY };
    const error = await caught(adjustTopics(connection, TOPIC_DEFINITIONS, { singleBroker: true, retention }));
    expect(error).toBeInstanceOf(Error);
    await settingsOnce('carillon.intents', 'retention.ms', String(7 * DAY));
  });

  test('that are kept for ever are never adjusted, and another retention prevents the start', async () => {
    spoilsTopics();
    await alter('carillon.consents', 'retention.ms', String(30 * DAY));
    await settingsOnce('carillon.consents', 'retention.ms', String(30 * DAY));
    await adjustTopics(connection, TOPIC_DEFINITIONS, { singleBroker: true });
    expect((await refusal()).message).toContain('carillon.consents: retention.ms is 2592000000, wanted -1');
  });

  test('prevent the start if partitions were added', async () => {
    spoilsTopics();
    await admin.createPartitions({ topicPartitions: [{ topic: 'carillon.triggers', count: 12 }] });
    const error = await refusal();
    expect(error.message).toContain('carillon.triggers: partitions is 12, wanted 8');
  });

  test('on a single broker are created only with explicit permission', async () => {
    const strict = { freshLogId };
    const error = await caught(ensureTopics(connection, TOPIC_DEFINITIONS, strict));
    expect(error.message).toContain('carillon.config: replication is 1, wanted 3 or more');
    await deleteAll();
    const alone = await caught(ensureTopics(connection, TOPIC_DEFINITIONS, strict));
    expect(alone.message).toContain('the cluster has 1 broker; add brokers, or set single_broker: true');
    expect(await allTopics()).toEqual([]);
  });

  test('on an outdated broker version are not inspected', async () => {
    const proxy = await startKafkaProxy(kafka.brokers);
    proxy.age = new Map([[KAFKA_API.produce, 3]]);
    const error = await caught(
      ensureTopics({ ...connection, brokers: proxy.brokers }, TOPIC_DEFINITIONS, forOneBroker),
    );
    expect(error.message).toContain('is too old: Produce 3 (needs 7). Carillon runs on Kafka 3.9 and newer');
    await proxy.stop();
  });

  test('are not created again silently after they were deleted', async () => {
    spoilsTopics();
    await admin.deleteTopics({ topics: ['carillon.events'] });
    await expect.poll(async () => (await allTopics()).includes('carillon.events')).toBe(false);
    const error = await caught(ensure());
    expect(error.code).toBe('wrong_log');
    expect(error.message).toContain('carillon.events');
  });

  test('count as those of another program if they have no log id', async () => {
    spoilsTopics();
    await admin.deleteTopics({ topics: ['carillon.config'] });
    await expect.poll(async () => (await allTopics()).includes('carillon.config')).toBe(false);
    await admin.createTopics({ topics: [{ topic: 'carillon.config', numPartitions: 1 }], waitForLeaders: true });
    const producer = new Kafka({
      clientId: 'other',
      brokers: [...kafka.brokers],
      logLevel: logLevel.NOTHING,
    }).producer();
    await producer.connect();
    await producer.send({ topic: 'carillon.config', messages: [{ value: 'foreign' }] });
    await producer.disconnect();
    const error = await caught(openKafkaLog({ connection }));
    expect(error.code).toBe('wrong_log');
  });

  test(
    'end a running process if all are recreated, so that no position is used for other records',
    async () => {
      let fatal: CarillonError | undefined;
      const log = await openKafkaLog({ connection, identityInterval: 300, fatal: (error) => (fatal = error) });
      const record = {
        topic: 'carillon.events',
        partition: 0,
        key: 'k',
        value: Buffer.from('x'),
        headers: {},
      } as const;
      await log.append([record, record, record]);
      await deleteAll();
      await ensure();
      await expect.poll(() => fatal?.code).toBe('wrong_log');
      await expect(log.append([record])).rejects.toMatchObject({ code: 'wrong_log' });
      await log.close();
    },
    TIMEOUT,
  );

  test(
    'end the process if one of them is recreated, because its positions do not match',
    async () => {
      spoilsTopics();
      let fatal: CarillonError | undefined;
      const log = await openKafkaLog({ connection, fatal: (error) => (fatal = error) });
      const record = {
        topic: 'carillon.events',
        partition: 0,
        key: 'k',
        value: Buffer.from('x'),
        headers: {},
      } as const;
      await log.append([record, record, record]);
      await admin.deleteTopics({ topics: ['carillon.events'] });
      await expect.poll(async () => (await allTopics()).includes('carillon.events')).toBe(false);
      await admin.createTopics({ topics: [{ topic: 'carillon.events', numPartitions: 8 }], waitForLeaders: true });
      await expect(log.append([record])).rejects.toMatchObject({ code: 'wrong_log' });
      expect(fatal?.message).toContain('carillon.events/0');
      await log.close();
    },
    TIMEOUT,
  );
});

describeWith('kafka', 'Kafka with TLS and a password', () => {
  let kafka: KafkaService;
  const { cert, key } = selfSigned('localhost');
  const open = (more: Partial<KafkaConnection>): Promise<unknown> =>
    ensureTopics(
      { brokers: kafka.securedBrokers, clientId: 'carillon-test', ...more },
      TOPIC_DEFINITIONS,
      forOneBroker,
    );
  beforeAll(async () => {
    kafka = await startKafka({ security: { cert, key, users: { carillon: 'secret' } } });
  }, START_TIMEOUT);
  afterAll(() => kafka?.stop(), START_TIMEOUT);
  const sasl = { mechanism: 'plain', username: 'carillon', password: 'secret' } as const;

  test(
    'connects if certificate and password are right',
    async () => {
      await open({ tls: { ca: cert }, sasl });
      const log = await openKafkaLog({
        connection: { brokers: kafka.securedBrokers, clientId: 'carillon-test', tls: { ca: cert }, sasl },
      });
      const record = {
        topic: 'carillon.events',
        partition: 1,
        key: 'k',
        value: Buffer.from('x'),
        headers: {},
      } as const;
      const [offset = -1] = await log.append([record]);
      expect((await log.read('carillon.events', 1, offset, 1))[0]?.key).toBe('k');
      await log.close();
    },
    TIMEOUT,
  );

  describe('refuses', () => {
    test(
      'a wrong password, without showing it',
      async () => {
        const error = await caught(open({ tls: { ca: cert }, sasl: { ...sasl, password: 'wr0ng-pa55' } }));
        expect(error.code).toBe('invalid_configuration');
        expect(error.message).not.toContain('wr0ng-pa55');
      },
      TIMEOUT,
    );

    test(
      'a certificate of an unknown authority',
      async () => {
        const error = await caught(open({ tls: true, sasl }));
        expect(error.message).toMatch(/certificate/);
      },
      TIMEOUT,
    );
  });
});
