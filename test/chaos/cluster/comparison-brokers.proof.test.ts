import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureTopics, openKafkaLog, type KafkaLog } from '@carillon/adapter-kafka';
import { createSchemaRegistry } from '@carillon/adapter-schema-registry';
import { TOPIC_DEFINITIONS } from '@carillon/contracts';
import type { ResourceChange } from '@carillon/domain/configuration';
import type { LogId } from '@carillon/kernel';
import { untilFound } from '@carillon/testing';
import { changesOf } from '@carillon/testing/given';
import { startKafka, type KafkaService } from '@carillon/testing/services';
import { Kafka, logLevel } from 'kafkajs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  appendOrders,
  children,
  EDITED,
  EVENTS,
  startComparison,
  type ComparisonPlace,
  type LogWithOrders,
} from '../../../apps/cli/test/comparison-fixture.ts';
import { describeWith } from '../../support/requirements.ts';
import { sharedServer } from '../../support/shared-servers.ts';

/*
 * A comparison reads from three brokers. It comes to the same result if the leader of a partition is killed before the child reads there,
 * and if the client is over its quota.
 */

const TIMEOUT_MS = 600_000;
/** Events that neither side notifies anybody about, so that reading takes long enough to be disturbed. */
const OTHERS = 20_000;
/** The partitions of the orders are read one after the other. */
const PARTITIONS = 2;
const SECOND = 1;
const THROTTLED = 'carillon-throttled';
const BYTES_PER_SECOND = 128 * 1024;
/** Kafka spreads a quota over eleven seconds, so the 4 MB of a partition take more than twenty. */
const THROTTLED_SECONDS = 20;
const FREE = 'carillon-replay';

describeWith(['kafka', 'registry'], 'A comparison of a log on three brokers', () => {
  const ends: (() => Promise<unknown> | void)[] = [];
  let kafka: KafkaService;
  let log: KafkaLog;
  let orders: LogWithOrders;
  let edit: readonly ResourceChange[];
  let placeOf: (clientId: string) => ComparisonPlace;

  beforeAll(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'carillon-comparison-'));
    ends.push(() => rm(folder, { recursive: true, force: true }));
    kafka = await startKafka({
      nodes: 3,
      properties: { 'broker.session.timeout.ms': '4000', 'broker.heartbeat.interval.ms': '500' },
      readQuotas: { [THROTTLED]: BYTES_PER_SECOND },
    });
    ends.push(() => kafka.stop());
    const { brokers } = kafka;
    const freshLogId = () => 'log_0000000000000000000000000K' as LogId;
    await ensureTopics({ brokers, clientId: FREE }, TOPIC_DEFINITIONS, { singleBroker: false, freshLogId });
    log = await openKafkaLog({ connection: { brokers, clientId: 'carillon-test' } });
    ends.push(() => log.close());
    const registry = { url: (await sharedServer('registry')).url };
    const schemas = createSchemaRegistry(registry);
    ends.push(() => schemas.close());
    orders = await appendOrders({ log, registry: schemas });
    edit = changesOf(orders.configuration, [EDITED]);
    await appendOthers();
    placeOf = (clientId) => ({
      source: { kind: 'kafka', connection: { brokers, clientId }, registry },
      folder: join(folder, clientId),
    });
  }, TIMEOUT_MS);
  afterAll(async () => {
    for (const end of ends.toReversed()) await end();
  }, TIMEOUT_MS);

  async function appendOthers(): Promise<void> {
    const value = new TextEncoder().encode(
      JSON.stringify({ order_id: 'other', status: 'open', note: 'n'.repeat(300) }),
    );
    const headers = { kind: 'event', enc: '0', workspace: 'shop', stream: 'shop/orders' };
    for (let from = 0; from < OTHERS; from += 1_000) {
      await log.append(
        Array.from({ length: 1_000 }, (_, index) => {
          const [at, partition] = [from + index, index % PARTITIONS];
          const event = { ...headers, event_id: `evt_other${at}` };
          return { topic: 'carillon.events', partition, key: 'other', value, headers: event } as const;
        }),
      );
    }
  }

  async function leaderOf(partition: number): Promise<number> {
    const admin = new Kafka({ clientId: 'asking', brokers: [...kafka.brokers], logLevel: logLevel.NOTHING }).admin();
    await admin.connect();
    const { topics } = await admin.fetchTopicMetadata({ topics: ['carillon.events'] });
    await admin.disconnect();
    return topics[0]?.partitions.find(({ partitionId }) => partitionId === partition)?.leader ?? 0;
  }

  const compare = async (clientId: string, pageRecords?: number) =>
    startComparison(placeOf(clientId), await orders.newRun(), { edit, pageRecords });

  it(
    'comes to the same result if the leader of a partition is killed before it is read',
    async () => {
      const undisturbed = await compare(FREE);
      const result = await undisturbed.comparing;
      expect(result.counts).toMatchObject({ events: OTHERS + (EVENTS / 3) * 2, pastRetention: 0 });
      expect(undisturbed.heard.slots).toHaveLength((EVENTS / 3) * 2);

      const { comparing, heard } = await compare(FREE, 1);
      const child = await untilFound('the child reads the first partition', async () => {
        const [pid] = await children();
        const read = heard.reads.at(-1) ?? 0;
        return pid !== undefined && read > 0 && read < OTHERS / PARTITIONS ? pid : undefined;
      });
      process.kill(child, 'SIGSTOP');
      const before = await leaderOf(SECOND);
      const victim = kafka.nodes.find(({ id }) => id === before);
      await victim?.kill();
      process.kill(child, 'SIGCONT');
      expect(await comparing).toEqual(result);
      expect(heard.slots).toEqual(undisturbed.heard.slots);
      expect(heard.begun).toBe(1);
      expect(await leaderOf(SECOND)).not.toBe(before);
      await victim?.restart();
    },
    TIMEOUT_MS,
  );

  it(
    'comes to the same result if its client is over its quota',
    async () => {
      const undisturbed = await compare(FREE);
      const result = await undisturbed.comparing;
      const begun = performance.now();
      const { comparing, heard } = await compare(THROTTLED);
      expect(await comparing).toEqual(result);
      expect(heard.slots).toEqual(undisturbed.heard.slots);
      expect(heard.begun).toBe(1);
      const seconds = (performance.now() - begun) / 1_000;
      console.log(`over its quota: ${seconds.toFixed(1)} s`);
      expect(seconds).toBeGreaterThan(THROTTLED_SECONDS);
    },
    TIMEOUT_MS,
  );
});
