import { err } from '@carillon/kernel';
import { integration, stream } from '@carillon/testing/given';
import { untilFound } from '@carillon/testing/topology';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  openForEachTest,
  database,
  inState,
  publish,
  read,
  reader,
  requestReset,
  start,
  stored,
  TIMING,
  topology,
  untilStored,
} from './reading-fixture.ts';
import { createScriptedTopics, offsetAt, type OpenedTopics } from './scripted-topics.ts';

const KAFKA = integration('shop-db', { kind: 'kafka', brokers: ['kafka:9092'] });
const rounds = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 10 * TIMING.roundMs));

openForEachTest();

let bus: ReturnType<typeof createScriptedTopics>;
beforeEach(() => {
  bus = createScriptedTopics();
});

const startBoth = (more: Parameters<typeof start>[0] = {}) => start({ topicSources: bus.load, ...more });
const topicReader = (): Promise<OpenedTopics> => untilFound('a reader of topics', () => bus.readers[0]);
/** The topics are read by another stream, because a stream cannot replace its tables by topics. */
const READ_TOPICS = stream('order-topics', { from: { integration: 'shop-db', topics: { orders: 'event.id' } } });
const untilForgotten = (): Promise<true> =>
  untilFound('the end of the source', async () => ((await stored()) === null ? true : undefined));

describe('A source whose integration gets another kind', () => {
  it('drops the slot of the database, also if no stream reads the Kafka cluster', async () => {
    await publish();
    startBoth();
    await read(await reader());
    await topology.publish(stream('orders', null), KAFKA);
    await untilForgotten();
    await rounds();
    expect([database.dropped, bus.readers, await stored()]).toEqual([['postgres://shop carillon_1'], [], null]);
    expect((await reader()).isClosed()).toBe(true);
  });

  it('reads the topics only after the slot is dropped', async () => {
    await publish();
    startBoth();
    await read(await reader());
    database.drop = err({ reason: 'unreachable', detail: 'no connection', fix: null });
    await topology.publish(stream('orders', null), KAFKA, READ_TOPICS);
    expect(await inState('leaving')).toMatchObject({
      kind: 'postgres',
      position: { slot: 'carillon_1' },
      state: { detail: 'no connection', fix: "SELECT pg_drop_replication_slot('carillon_1')" },
    });
    await rounds();
    expect(bus.readers).toEqual([]);
    database.drop = { ok: true, value: null };
    const topics = await topicReader();
    expect([topics.from, topics.topics, database.dropped]).toEqual([null, ['orders'], ['postgres://shop carillon_1']]);
    await topics.handlers.take({ records: [], position: offsetAt(7) });
    expect(await stored()).toMatchObject({ kind: 'kafka', secrets: null, position: { clusterId: 'bus-1' } });
  });

  it('reads the topics once a person says that the slot is gone', async () => {
    await publish();
    startBoth();
    await read(await reader());
    database.drop = err({ reason: 'unreachable', detail: 'no connection', fix: null });
    await topology.publish(stream('orders', null), KAFKA, READ_TOPICS);
    await inState('leaving');
    await requestReset(true);
    expect((await topicReader()).from).toBeNull();
    expect(database.dropped).toEqual([]);
  });

  it('reads the database on if the kind comes back before the slot is dropped', async () => {
    await publish();
    startBoth();
    await read(await reader());
    database.drop = err({ reason: 'unreachable', detail: 'no connection', fix: null });
    await topology.publish(stream('orders', null), KAFKA);
    await inState('leaving');
    await publish();
    expect((await reader(2)).from?.lsn).toBe('0/100');
  });

  it('forgets the position in the topics, and makes a slot in the database', async () => {
    await topology.publish(KAFKA, READ_TOPICS);
    startBoth();
    const topics = await topicReader();
    await topics.handlers.take({ records: [], position: offsetAt(7) });
    await topology.publish(stream('order-topics', null));
    await publish();
    expect((await reader()).from).toBeNull();
    expect(topics.isClosed()).toBe(true);
    await read(await reader());
    expect(await untilStored('the slot', ({ kind }) => kind === 'postgres')).toMatchObject({
      secrets: { url: 'SHOP_DB' },
      position: { slot: 'carillon_1' },
    });
  });

  it('keeps its slot while an engine still has the configuration before', async () => {
    await topology.publish(KAFKA);
    const old = await topology.ports.configuration.refresh();
    await topology.publish(integration('shop-db', null));
    await publish();
    const first = startBoth();
    await read(await reader());
    await first.stop();
    const { configuration } = topology.ports;
    let current = old;
    startBoth({
      configuration: { current: () => current, refresh: async () => (current = await configuration.refresh()) },
    });
    expect((await reader(2)).from?.lsn).toBe('0/100');
    expect(database.dropped).toEqual([]);
  });
});
