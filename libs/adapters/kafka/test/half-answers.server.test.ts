import { TOPIC_DEFINITIONS } from '@carillon/contracts';
import type { NewRecord } from '@carillon/ports';
import { createWitness, freshName, untilFound } from '@carillon/testing';
import { KAFKA_API, startKafkaProxy, type KafkaProxy } from '@carillon/testing/faults';
import { startKafka, type KafkaService } from '@carillon/testing/services';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeWith } from '../../../../test/support/requirements.ts';
import { ensureTopics, type KafkaConnection, type KafkaLog, openKafkaLog } from '../src/index.ts';
import { forOneBroker, START_TIMEOUT } from './running-kafka.ts';

type Kind = keyof typeof KAFKA_API;
const KINDS = Object.keys(KAFKA_API) as Kind[];
/** After each of these a member waits longer before it comes back. */
const OF_A_GROUP = new Set<Kind>(['findCoordinator', 'joinGroup', 'syncGroup']);
/** How much of an answer comes: nothing of it, a part of its length, its head, half of it, nearly all. */
const SHARES = [0, 0.02, 0.2, 0.5, 0.9, 0.99];

const recordOf = (value: string, partition = 0): NewRecord => ({
  topic: 'carillon.events',
  partition,
  key: value,
  value: Buffer.from(value),
  headers: {},
});

describeWith('kafka', 'the log on Kafka while responses break off', () => {
  let kafka: KafkaService;
  let proxy: KafkaProxy;
  let connection: KafkaConnection;
  const seen = new Set<number>();

  /** Truncates responses of this kind at varying positions, except the last of each round. */
  function breakOff(kind: Kind, times: number): () => number {
    let cuts = 0;
    let turn = 0;
    proxy.decide = ({ apiKey }) => {
      seen.add(apiKey);
      if (apiKey !== KAFKA_API[kind] || cuts >= times) return 'pass';
      const share = SHARES[turn % (SHARES.length + 1)];
      turn += 1;
      if (share === undefined) return 'pass';
      cuts += 1;
      // kafkajs keeps a connection that was reset, and makes a new one for one that ended.
      return { answered: share, by: turn % 3 === 0 ? 'end' : 'reset' };
    };
    return () => cuts;
  }

  beforeAll(async () => {
    kafka = await startKafka({ properties: { 'group.min.session.timeout.ms': '1000' } });
    proxy = await startKafkaProxy(kafka.brokers);
    connection = { brokers: proxy.brokers, clientId: 'carillon-test', requestTimeout: 5000 };
  }, START_TIMEOUT);
  afterAll(async () => {
    await proxy.stop();
    await kafka.stop();
  }, START_TIMEOUT);

  const prepare = (): Promise<unknown> =>
    untilFound('the topics are there', () =>
      ensureTopics(connection, TOPIC_DEFINITIONS, forOneBroker).then(
        () => true,
        () => undefined,
      ),
    );

  test.each(['createTopics', 'describeConfigs', 'metadata'] as const)(
    'creates and checks topics while responses to %s break off',
    async (kind) => {
      const cuts = breakOff(kind, 4);
      await prepare();
      expect(cuts()).toBeGreaterThan(0);
    },
  );

  test.each(KINDS.filter((kind) => kind !== 'createTopics' && kind !== 'describeConfigs'))(
    'keeps every acknowledged record at its offset while responses to %s break off',
    async (kind) => {
      proxy.decide = () => 'pass';
      await prepare();
      const cuts = breakOff(kind, OF_A_GROUP.has(kind) ? 6 : 40);
      const open = (): Promise<KafkaLog> =>
        openKafkaLog({
          connection,
          appendTimeout: 8000,
          readTimeout: 20_000,
          stopPatience: 500,
          sessionTimeout: 6000,
          heartbeatInterval: 100,
          copyInterval: 100,
        });
      const log = await untilFound('it opens', () => open().catch(() => undefined));
      const bounds = await untilFound('it tells its end', () =>
        log.bounds('carillon.events', 0).catch(() => undefined),
      );
      const witness = createWitness<string>();
      const consumption = await log.consume({
        group: freshName(`half-${kind}`.toLowerCase()),
        topic: 'carillon.events',
        maxRecords: 100,
        maxBytes: 1_000_000,
        async assigned(partition) {
          return {
            from: partition === 0 ? bounds.end : (await log.bounds('carillon.events', partition)).end,
            async handle(records) {
              for (const { value } of records) witness.saw(Buffer.from(value).toString());
            },
            async lost() {},
          };
        },
        // Members of the group say that they are out; they come back.
        failed: () => undefined,
      });
      const acknowledged = new Map<string, number>();
      for (let at = 0; at < 40; at += 1) {
        const value = `${kind}-${at}`;
        const [offset] = await untilFound(`it takes ${value}`, () =>
          log.append([recordOf(value)]).catch(() => undefined),
        );
        acknowledged.set(value, offset ?? -1);
      }
      for (const [value, offset] of acknowledged) {
        const [record] = await untilFound(`it reads ${value}`, () =>
          log.read('carillon.events', 0, offset, 1).catch(() => undefined),
        );
        expect(Buffer.from(record?.value ?? []).toString()).toBe(value);
      }
      await witness.until('all were handled', (handled) =>
        [...acknowledged.keys()].every((value) => handled.includes(value)),
      );
      // A quick machine is through before the first sign of life is due.
      if (kind === 'heartbeat') await untilFound('it gives a sign of life', async () => cuts() > 0 || undefined);
      await consumption.stop();
      await log.close();
      expect(cuts()).toBeGreaterThan(0);
    },
  );

  test('is tested by these tests with every kind of request that it sends', () => {
    const known: readonly number[] = Object.values(KAFKA_API);
    expect([...seen].filter((kind) => !known.includes(kind))).toEqual([]);
    expect(known.filter((kind) => !seen.has(kind))).toEqual([]);
  });
});
