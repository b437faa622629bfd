import { randomBytes } from 'node:crypto';
import { createTopicSources, ensureTopics, openKafkaLog, type KafkaLog } from '@carillon/adapter-kafka';
import { openMongo, type MongoStores } from '@carillon/adapter-mongodb';
import { createPostgresSources } from '@carillon/adapter-postgres';
import { TOPIC_DEFINITIONS } from '@carillon/contracts';
import { ok, type LogId } from '@carillon/kernel';
import type {
  AddressGuard,
  LeaseStore,
  LogRecord,
  SourceRef,
  SourceStore,
  StoredSource,
  TopicName,
} from '@carillon/ports';
import { Progress } from '@carillon/runtime';
import { appendBeforeWrite, COLLECTIONS, createSourceStore } from '@carillon/stores';
import { integration, stream } from '@carillon/testing/given';
import { createPostgresDatabase, dropDatabase, forgetTopics, type PostgresDatabase } from '@carillon/testing/services';
import { openTopology, untilFound, type Topology } from '@carillon/testing/topology';
import kafkajs, { type Producer } from 'kafkajs';
import { nameOf } from '../../../apps/engine/src/sources/source-ports.ts';
import { startSources, type SourceReaders } from '../../../apps/engine/src/sources/sources.ts';
import { sharedServer, takeTurn } from '../../support/shared-servers.ts';

export const REF = { workspace: 'shop', integration: 'shop-db' };
export const BUS = { workspace: 'shop', integration: 'bus' };
const TIMING = { roundMs: 50, firstPauseMs: 100, longestPauseMs: 300, reportMs: 300, leaseMs: 1_000 };
const LOOPBACK: AddressGuard = {
  resolve: async () => ok([{ address: '127.0.0.1', family: 4, listed: true, isPublic: false }]),
};
const LETTERS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const freshLogId = (): LogId =>
  `log_${Array.from(randomBytes(26), (byte) => LETTERS.charAt(byte & 31)).join('')}` as LogId;

/** One engine of the cluster, as far as it reads sources. */
export type ReadingEngine = {
  /** Errors that it reported. */
  readonly troubles: unknown[];
  /** This engine reads the database. */
  reads(): boolean;
  /** Store and lease do not respond to this engine any more, as if its process stood still. */
  pause(): void;
  resume(): void;
  /** Ends after the next append, before its position is saved, without giving the lease back. */
  dieAfterAppend(): Promise<void>;
};

/** A topic that another program writes. */
type ForeignTopic = { readonly name: string; readonly producer: Producer };

/** Kafka and MongoDB, a database and a topic, and any number of engines that may read these two. */
export class ClusterReaders {
  readonly database: PostgresDatabase;
  readonly #topology: Topology;
  readonly #topic: ForeignTopic;
  readonly #log: KafkaLog;
  readonly #stores: MongoStores;
  readonly #engines: SourceReaders[] = [];
  readonly #leave: () => Promise<void>;

  private constructor(
    { database, topic }: { readonly database: PostgresDatabase; readonly topic: ForeignTopic },
    { topology, log, stores }: { readonly topology: Topology; readonly log: KafkaLog; readonly stores: MongoStores },
    leave: () => Promise<void>,
  ) {
    this.database = database;
    this.#topic = topic;
    this.#topology = topology;
    this.#log = log;
    this.#stores = stores;
    this.#leave = leave;
  }

  static async open(): Promise<ClusterReaders> {
    const [{ brokers }, mongodb, postgres] = await Promise.all([
      sharedServer('kafka'),
      sharedServer('mongodb'),
      sharedServer('postgres'),
    ]);
    const giveBack = await takeTurn('topics');
    await forgetTopics(brokers, 'carillon.');
    const connection = { brokers, clientId: 'carillon-sources' };
    await ensureTopics(connection, TOPIC_DEFINITIONS, { singleBroker: true, freshLogId });
    const database = await createPostgresDatabase(postgres.url);
    await database.run('CREATE TABLE orders (id bigint PRIMARY KEY)');
    const topic = await makeTopic(brokers);
    const name = `sources-${randomBytes(6).toString('hex')}`;
    const clock = { now: () => Date.now() };
    const stores = await openMongo({ url: mongodb.url, database: name, clock, collections: COLLECTIONS });
    const log = await openKafkaLog({ connection });
    const topology = await openTopology({ secrets: { SHOP_DB: database.url } });
    await topology.publish(
      integration('shop-db', { kind: 'postgres', url: { secret: 'SHOP_DB' } }),
      stream('orders', { from: { integration: 'shop-db', tables: { 'public.orders': 'event.id' } } }),
      integration('bus', { kind: 'kafka', brokers }),
      stream('order-records', { from: { integration: 'bus', topics: { [topic.name]: 'event.id' } } }),
    );
    return new ClusterReaders({ database, topic }, { topology, log, stores }, async () => {
      await topic.producer.disconnect();
      await topology.close();
      await log.close();
      await stores.close();
      await database.drop();
      await dropDatabase(mongodb.url, name);
      giveBack();
    });
  }

  /** The shared store of all processes in the cluster. */
  get store(): SourceStore {
    return createSourceStore(this.#stores.documents, appendBeforeWrite(this.#log, this.#stores.documents));
  }

  startEngine(): ReadingEngine {
    const { leases } = this.#stores;
    const troubles: unknown[] = [];
    const shown = new Set<string>();
    const died = Promise.withResolvers<void>();
    let life: 'runs' | 'dies' | 'dead' = 'runs';
    let resumed: PromiseWithResolvers<void> | null = null;
    const answered = async <Value>(work: () => Promise<Value>): Promise<Value> => {
      await resumed?.promise;
      if (life === 'dead') throw new Error('the process is dead');
      return work();
    };
    const sources: SourceStore = {
      ...this.store,
      advance: (next, records) =>
        answered(async () => {
          if (life === 'runs' || records.length === 0) return this.store.advance(next, records);
          await this.#log.append(records);
          life = 'dead';
          died.resolve();
          throw new Error('killed');
        }),
    };
    const ownLeases: LeaseStore = {
      ...leases,
      acquire: (...order) => answered(() => leases.acquire(...order)),
      release: (...order) => (life === 'runs' ? leases.release(...order) : Promise.resolve()),
    };
    const adapter = createPostgresSources({
      guard: LOOPBACK,
      timing: { statusMs: 100, idleMs: 200, reportMs: 150, releaseMs: 200 },
    });
    const topicSources = createTopicSources({ guard: LOOPBACK, timing: { refreshMs: 200 } });
    const engine = startSources(
      {
        ...this.#topology.ports,
        log: this.#log,
        sources,
        leases: ownLeases,
        changeSources: async () => adapter,
        topicSources: async () => topicSources,
        avroSchemas: () => Promise.reject(new Error('no schemas are read here')),
        progress: new Progress(),
        watch: {
          trouble: (_where, error) => void troubles.push(error),
          sourceState: (name) => void shown.add(name),
          sourceLeft: (name) => void shown.delete(name),
          sourceChanges: () => undefined,
          sourceReset: () => undefined,
        },
      },
      TIMING,
    );
    this.#engines.push(engine);
    return {
      troubles,
      reads: () => shown.has(nameOf(REF)),
      pause: () => (resumed ??= Promise.withResolvers()),
      resume: () => {
        resumed?.resolve();
        resumed = null;
      },
      async dieAfterAppend() {
        life = 'dies';
        await died.promise;
        await engine.stop();
      },
    };
  }

  untilStored(what: string, fits: (source: StoredSource) => boolean, ref: SourceRef = REF): Promise<StoredSource> {
    return untilFound(what, async () => {
      const source = await this.store.load(ref);
      return source !== null && fits(source) ? source : undefined;
    });
  }

  async records(topic: TopicName): Promise<readonly LogRecord[]> {
    const log = this.#log;
    const ofPartition = async (partition: number): Promise<readonly LogRecord[]> => {
      const { start, end } = await log.bounds(topic, partition);
      return end > start ? log.read(topic, partition, start, 1000) : [];
    };
    return (await Promise.all(Array.from({ length: log.partitions(topic) }, (_, at) => ofPartition(at)))).flat();
  }

  /** Event ids of each row, in the order of the log. */
  async idsOfRows(): Promise<Readonly<Record<string, readonly string[]>>> {
    const changes = (await this.records('carillon.events')).filter(({ headers }) => headers['shape'] === 'change');
    return idsByKey(changes);
  }

  /** Resolves once a row is on the log, with what is there. */
  untilRow(id: number): Promise<Readonly<Record<string, readonly string[]>>> {
    return untilFound(`row ${id}`, async () => {
      const rows = await this.idsOfRows();
      return rows[id] ? rows : undefined;
    });
  }

  /** Writes records to the topic. */
  async send(...ids: readonly number[]): Promise<void> {
    const messages = ids.map((id) => ({ value: JSON.stringify({ id }) }));
    await this.#topic.producer.send({ topic: this.#topic.name, messages });
  }

  /** Event ids of each record of the topic, once one of them is on the log. */
  untilRecord(id: number): Promise<Readonly<Record<string, readonly string[]>>> {
    return untilFound(`record ${id}`, async () => {
      const records = await this.records('carillon.events');
      const events = records.filter(({ headers }) => headers['stream'] === 'shop/order-records');
      const found = idsByKey(events);
      return found[id] ? found : undefined;
    });
  }

  async stopEngines(): Promise<void> {
    await Promise.all(this.#engines.splice(0).map((engine) => engine.stop()));
  }

  async close(): Promise<void> {
    await this.stopEngines();
    await this.#leave();
  }
}

function idsByKey(events: readonly LogRecord[]): Readonly<Record<string, readonly string[]>> {
  const byKey = Map.groupBy(events, ({ headers }) => headers['key'] ?? '');
  return Object.fromEntries(
    [...byKey].map(([key, records]) => [key, records.map(({ headers }) => headers['event_id'] ?? '')]),
  );
}

async function makeTopic(brokers: readonly string[]): Promise<ForeignTopic> {
  const name = `shop.orders.${randomBytes(4).toString('hex')}`;
  const kafka = new kafkajs.Kafka({ brokers: [...brokers], logLevel: kafkajs.logLevel.NOTHING });
  const admin = kafka.admin();
  await admin.connect();
  await admin.createTopics({ topics: [{ topic: name, numPartitions: 1 }], waitForLeaders: false });
  await admin.disconnect();
  const producer = kafka.producer();
  await producer.connect();
  return { name, producer };
}
