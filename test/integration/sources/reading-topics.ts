import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmbedded } from '@carillon/adapter-embedded';
import { createGuardedHttp } from '@carillon/adapter-guarded-http';
import { createTopicSources } from '@carillon/adapter-kafka';
import { createTenantSchemas } from '@carillon/adapter-schema-registry';
import { ok } from '@carillon/kernel';
import type { AddressGuard, LogRecord, SourceStore, StoredSource, TopicSources } from '@carillon/ports';
import { COLLECTIONS, createSourceStore, createStores } from '@carillon/stores';
import { integration, stream } from '@carillon/testing/given';
import { Topology, untilFound } from '@carillon/testing/topology';
import kafkajs, { type Admin, type CompressionTypes, type Message, type Producer } from 'kafkajs';
import { startEngineOn } from '../../../apps/engine/test/engine-role.ts';

export const LOOPBACK: AddressGuard = {
  resolve: async () => ok([{ address: '127.0.0.1', family: 4, listed: true, isPublic: false }]),
};
export const REF = { workspace: 'shop', integration: 'bus' };
export const TIMING = { refreshMs: 300 };

/** Topics of a Kafka cluster, and an engine on a data folder that reads them. */
export class ReadingTopics {
  readonly brokers: readonly string[];
  readonly admin: Admin;
  readonly #producer: Producer;
  readonly #folder: string;
  readonly #suffix = crypto.randomUUID().slice(0, 8);
  readonly sources: TopicSources = createTopicSources({ guard: LOOPBACK, timing: TIMING });
  readonly #http = createGuardedHttp({ guard: LOOPBACK });
  #running: { readonly topology: Topology; close(): Promise<void> } | null = null;

  private constructor(brokers: readonly string[], folder: string) {
    this.brokers = brokers;
    this.#folder = folder;
    const kafka = new kafkajs.Kafka({ brokers: [...brokers], logLevel: kafkajs.logLevel.NOTHING });
    this.admin = kafka.admin();
    this.#producer = kafka.producer();
  }

  static async create(brokers: readonly string[]): Promise<ReadingTopics> {
    const topics = new ReadingTopics(brokers, await mkdtemp(join(tmpdir(), 'carillon-topics-')));
    await Promise.all([topics.admin.connect(), topics.#producer.connect()]);
    return topics;
  }

  /** The name of a topic that no other test uses. */
  name(topic: string): string {
    return `shop.${topic}.${this.#suffix}`;
  }

  get topology(): Topology {
    if (this.#running === null) throw new Error('the engine is not open');
    return this.#running.topology;
  }

  /** `compression`: what the broker compresses records with, whatever the producer does. */
  async make(topic: string, numPartitions = 1, compression = 'producer'): Promise<void> {
    const configEntries = [{ name: 'compression.type', value: compression }];
    const made = { topic: this.name(topic), numPartitions, configEntries };
    await this.admin.createTopics({ topics: [made], waitForLeaders: true });
  }

  async remove(topic: string): Promise<void> {
    const name = this.name(topic);
    await this.admin.deleteTopics({ topics: [name] });
    await untilFound('the end of the topic', async () => !(await this.admin.listTopics()).includes(name) || undefined);
  }

  async send(topic: string, ...messages: readonly Message[]): Promise<void> {
    await this.#producer.send({ topic: this.name(topic), messages: [...messages] });
  }

  /** Deletes the records of partition 0 before an offset, as retention does. */
  async deleteRecords(topic: string, offset: number): Promise<void> {
    const partitions = [{ partition: 0, offset: String(offset) }];
    // kafkajs finds the leader of a topic only if it asked about it before.
    await this.admin.fetchTopicOffsets(this.name(topic));
    await this.admin.deleteTopicRecords({ topic: this.name(topic), partitions });
  }

  async sendCompressed(topic: string, compression: CompressionTypes, messages: readonly Message[]): Promise<void> {
    await this.#producer.send({ topic: this.name(topic), compression, messages: [...messages] });
  }

  /** Opens the data folder and starts an engine on it. `store` changes how the engine writes the store. */
  async open(store: (store: SourceStore) => SourceStore = (same) => same): Promise<void> {
    const dataDir = join(this.#folder, 'data');
    const topology = new Topology({
      secrets: {},
      async backing(clock) {
        const data = await openEmbedded({ dataDir, clock, partitions: 2, collections: COLLECTIONS });
        await data.configurationStore.identity({ logId: data.log.logId, keyFingerprint: 'finger' });
        const sources = store(createSourceStore(data.documents, data.writeWithRecords));
        return { data: { ...data, ...createStores(data.documents), sources }, close: () => data.close() };
      },
    });
    await topology.start();
    const engine = await startEngineOn(topology, {
      topicSources: async () => this.sources,
      avroSchemas: async () => createTenantSchemas(this.#http),
      aloneOnStore: true,
    });
    this.#running = {
      topology,
      async close() {
        await engine.close();
        await topology.close();
      },
    };
  }

  publish(...topics: readonly string[]): Promise<number> {
    const named = Object.fromEntries(topics.map((topic) => [this.name(topic), 'event.id']));
    return this.topology.publish(
      integration('bus', { kind: 'kafka', brokers: [...this.brokers] }),
      stream('orders', topics.length === 0 ? null : { from: { integration: 'bus', topics: named } }),
    );
  }

  stored(): Promise<StoredSource | null> {
    return this.topology.data.sources.load(REF);
  }

  untilStored(what: string, fits: (source: StoredSource) => boolean): Promise<StoredSource> {
    return untilFound(what, async () => {
      const source = await this.stored();
      return source !== null && fits(source) ? source : undefined;
    });
  }

  untilState(state: string, reason: string | null = null): Promise<StoredSource> {
    return this.untilStored(
      `${state} ${reason}`,
      (source) => source.state.kind === state && (reason === null || reasonOf(source) === reason),
    );
  }

  async events(): Promise<readonly LogRecord[]> {
    return (await this.topology.records('carillon.events')).filter(({ headers }) => headers['kind'] === 'event');
  }

  /** The bodies of the events on the log, once there are so many. */
  untilEvents(count: number): Promise<readonly string[]> {
    return untilFound(`${count} events`, async () => {
      const events = await this.events();
      return events.length >= count ? events.map(({ value }) => new TextDecoder().decode(value)) : undefined;
    });
  }

  async close(): Promise<void> {
    await this.#running?.close();
    this.#running = null;
  }

  async drop(): Promise<void> {
    await this.close();
    const names = (await this.admin.listTopics()).filter((name) => name.endsWith(this.#suffix));
    if (names.length > 0) await this.admin.deleteTopics({ topics: names });
    await Promise.all([this.admin.disconnect(), this.#producer.disconnect()]);
    await rm(this.#folder, { recursive: true, force: true });
  }
}

const reasonOf = ({ state }: StoredSource): string | null => ('reason' in state ? state.reason : null);
