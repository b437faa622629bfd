import type { KafkaPosition } from '@carillon/domain/changes';
import { ok } from '@carillon/kernel';
import type { AddressGuard, TopicBatch, TopicReport, TopicTarget } from '@carillon/ports';
import { untilFound } from '@carillon/testing';
import { selfSigned } from '@carillon/testing';
import { startKafka, type KafkaService } from '@carillon/testing/services';
import {
  AclOperationTypes,
  AclPermissionTypes,
  AclResourceTypes,
  Kafka,
  logLevel,
  ResourcePatternTypes,
} from 'kafkajs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../../../../test/support/requirements.ts';
import { createTopicSources } from '../src/index.ts';
import { START_TIMEOUT } from './running-kafka.ts';

const LOOPBACK: AddressGuard = {
  resolve: async () => ok([{ address: '127.0.0.1', family: 4, listed: true, isPublic: false }]),
};
const PUBLIC: AddressGuard = {
  resolve: async () => ok([{ address: '127.0.0.1', family: 4, listed: true, isPublic: true }]),
};
const USER = 'carillon';
const PASSWORD = 'canary-4711';
const { cert, key } = selfSigned('localhost');
/** The listener in the clear belongs to the broker itself and to this test. */
const AUTHORIZER = {
  'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
  'super.users': 'User:ANONYMOUS',
  'log.cleaner.backoff.ms': '100',
  'log.initial.task.delay.ms': '100',
};
/** Its records are compacted as soon as the broker gets to it. */
const COMPACTED = [
  ['cleanup.policy', 'compact'],
  ['segment.ms', '100'],
  ['min.cleanable.dirty.ratio', '0.001'],
  ['min.compaction.lag.ms', '0'],
  ['max.compaction.lag.ms', '100'],
].map(([name = '', value = '']) => ({ name, value }));

describeWith('kafka', 'customers’ topics on a cluster with SASL, TLS and permissions', () => {
  let kafka: KafkaService;
  let client: Kafka;
  const sources = createTopicSources({ guard: LOOPBACK, timing: { refreshMs: 100 } });
  beforeAll(async () => {
    kafka = await startKafka({ security: { cert, key, users: { [USER]: PASSWORD } }, properties: AUTHORIZER });
    client = new Kafka({ brokers: [...kafka.brokers], logLevel: logLevel.NOTHING });
    const admin = client.admin();
    await admin.connect();
    await admin.createTopics({
      waitForLeaders: true,
      topics: [
        { topic: 'orders', numPartitions: 2 },
        { topic: 'hidden', numPartitions: 1 },
        { topic: 'states', numPartitions: 1, configEntries: COMPACTED },
      ],
    });
    await admin.disconnect();
    await allow('orders');
    await allow('states');
  }, START_TIMEOUT);
  afterAll(() => kafka?.stop(), START_TIMEOUT);

  async function allow(resourceName: string): Promise<void> {
    const admin = client.admin();
    await admin.connect();
    const acl = [AclOperationTypes.DESCRIBE, AclOperationTypes.READ].map((operation) => ({
      resourceType: AclResourceTypes.TOPIC,
      resourceName,
      resourcePatternType: ResourcePatternTypes.LITERAL,
      principal: `User:${USER}`,
      host: '*',
      operation,
      permissionType: AclPermissionTypes.ALLOW,
    }));
    await admin.createAcls({ acl });
    await admin.disconnect();
  }

  async function send(topic: string, ...values: readonly string[]): Promise<void> {
    const producer = client.producer();
    await producer.connect();
    for (const value of values) await producer.send({ topic, messages: [{ key: 'k', value, partition: 0 }] });
    await producer.disconnect();
  }

  const target = (more: Partial<TopicTarget> = {}, password = PASSWORD): TopicTarget => ({
    workspace: 'shop',
    integration: 'bus',
    brokers: kafka.securedBrokers,
    tls: { ca: cert },
    sasl: { mechanism: 'scram-sha-512', username: USER, password },
    ...more,
  });

  /** Reads topics from a position on. */
  function read(topics: readonly string[], from: KafkaPosition | null, of: TopicTarget = target()) {
    const batches: TopicBatch[] = [];
    const reports: TopicReport[] = [];
    const reader = sources.open(of, topics, from, {
      take: async (batch) => void batches.push(batch),
      report: (report) => void reports.push(report),
    });
    const values = () =>
      batches.flatMap(({ records }) => records.map(({ value }) => Buffer.from(value ?? []).toString()));
    return { reader, batches, reports, values };
  }
  async function oldest(topics: readonly string[]): Promise<KafkaPosition> {
    const reset = await sources.reset(target(), topics, 'oldest');
    if (!reset.ok) throw new Error(JSON.stringify(reset.error));
    return reset.value;
  }

  it.each(['plain', 'scram-sha-512'] as const)('are read with a login by %s', async (mechanism) => {
    const from = await oldest(['orders']);
    await send('orders', mechanism);
    const { reader, values } = read(
      ['orders'],
      from,
      target({ sasl: { mechanism, username: USER, password: PASSWORD } }),
    );
    await untilFound('the record', () => (values().includes(mechanism) ? true : undefined));
    await reader.close();
  });

  it('are refused with a wrong password, a wrong authority, and without TLS, and no secret is shown', async () => {
    const reasonOf = async (of: TopicTarget, guard = LOOPBACK): Promise<string | undefined> => {
      const checked = await createTopicSources({ guard, timing: { answerMs: 5_000 } }).check(of, ['orders']);
      expect(JSON.stringify(checked)).not.toContain('canary');
      return checked.problems[0]?.reason;
    };
    expect(await reasonOf(target())).toBeUndefined();
    expect(await reasonOf(target({}, 'canary-wrong'))).toBe('refused_login');
    expect(await reasonOf(target({ tls: { ca: selfSigned('localhost').cert } }))).toBe('refused_certificate');
    expect(await reasonOf(target({ tls: { ca: null } }))).toBe('refused_certificate');
    expect(await reasonOf(target({ tls: null }))).toBe('unreachable');
    // At a public address TLS is used although the integration does not ask for it.
    expect(await reasonOf(target({ tls: null }), PUBLIC)).toBe('refused_certificate');
  });

  it('are read even if another topic lacks permission; that topic is read once permission is granted', async () => {
    const { reader, reports, values } = read(['hidden', 'orders'], await oldest(['orders']));
    const problems = () => reports.at(-1)?.tables.map(({ table, problem }) => [table, problem?.reason ?? null]);
    await untilFound('the refusal', () => (problems()?.[0]?.[1] === 'may_not_read' ? true : undefined));
    await send('orders', 'beside');
    await untilFound('the record', () => (values().includes('beside') ? true : undefined));
    expect(problems()).toEqual([
      ['hidden', 'may_not_read'],
      ['orders', null],
    ]);
    await allow('hidden');
    await untilFound('the permission', () => (problems()?.[0]?.[1] === null ? true : undefined));
    await send('hidden', 'allowed');
    await untilFound('its record', () => (values().includes('allowed') ? true : undefined));
    await reader.close();
  });

  it('may be compacted: reading continues after removed records', async () => {
    const from = await oldest(['states']);
    const count = 6;
    await send('states', ...Array.from({ length: count }, (_, n) => `v${n}`));
    await untilFound('the compaction', async () => {
      await send('states', 'newest');
      const { reader, values } = read(['states'], from);
      await untilFound('the newest record', () => (values().includes('newest') ? true : undefined));
      await reader.close();
      return values().includes('v0') ? undefined : true;
    });
    const { reader, batches, values } = read(['states'], from);
    await untilFound('the newest record', () => (values().includes('newest') ? true : undefined));
    await reader.close();
    expect(batches.at(-1)?.position.topics['states']?.partitions[0]).toBeGreaterThan(count);
    expect(values()).not.toContain('v0');
  });
});
