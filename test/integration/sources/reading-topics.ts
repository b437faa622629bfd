import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmbedded } from '@carillon/adapter-embedded';
import { createGuardedHttp } from '@carillon/adapter-guarded-http';
import { createTopicSources } from '@carillon/adapter-kafka';
import { createTenantSchemas } from '@carillon/adapter-schema-registry';
import { OWNER_ACTOR } from '@carillon/domain/people';
import type { KafkaPosition, TopicStart } from '@carillon/domain/changes';
import type { DeadLetter } from '@carillon/domain/events';
import { ok } from '@carillon/kernel';
import type { AddressGuard, LogRecord, StoredSource, TopicSources } from '@carillon/ports';
import { Progress } from '@carillon/runtime';
import { COLLECTIONS, createSourceStore, createStores } from '@carillon/stores';
import { integration, stream } from '@carillon/testing/given';
import { Topology, untilFound } from '@carillon/testing/topology';
import kafkajs, { type Admin, type Message, type Producer } from 'kafkajs';
import { startSources, type SourceReaders } from '../../../apps/engine/src/sources/sources.ts';

export const LOOPBACK: AddressGuard = {
  resolve: async () => ok([{ address: '127.0.0.1', family: 4, listed: true, isPublic: false }]),
};
/** Short pauses, so that a test waits for nothing but the servers. */
const TIMING = { roundMs: 50, firstPauseMs: 50, longestPauseMs: 200, reportMs: 100, leaseMs: 1_000 };
const REFRESH_MS = 200;

/** A Kafka cluster, and a data folder whose sources are read. Each test reads a source of its own. */
export class ReadingTopics {
  readonly brokers: readonly string[];
  readonly admin: Admin;
  readonly kafka: kafkajs.Kafka;
  readonly producer: Producer;
  readonly adapter: TopicSources = createTopicSources({ guard: LOOPBACK, timing: { refreshMs: REFRESH_MS } });
  readonly #folder: string;
  readonly #http = createGuardedHttp({ guard: LOOPBACK });
  #sources = 0;
  #topology: Topology | null = null;
  #readers: SourceReaders | null = null;

  private constructor(brokers: readonly string[], folder: string) {
    this.brokers = brokers;
    this.#folder = folder;
    this.kafka = new kafkajs.Kafka({ brokers: [...brokers], logLevel: kafkajs.logLevel.NOTHING });
    this.admin = this.kafka.admin();
    this.producer = this.kafka.producer();
  }

  static async open(brokers: readonly string[]): Promise<ReadingTopics> {
    const topics = new ReadingTopics(brokers, await mkdtemp(join(tmpdir(), 'carillon-topics-')));
    await Promise.all([topics.admin.connect(), topics.producer.connect(), topics.openData()]);
    return topics;
  }

  get topology(): Topology {
    if (this.#topology === null) throw new Error('the data folder is not open');
    return this.#topology;
  }

  /** Opens the data folder and reads its sources. */
  async openData(): Promise<void> {
    const dataDir = join(this.#folder, 'data');
    this.#topology = new Topology({
      secrets: {},
      async backing(clock) {
        const data = await openEmbedded({ dataDir, clock, partitions: 2, collections: COLLECTIONS });
        await data.configurationStore.identity({ logId: data.log.logId, keyFingerprint: 'finger' });
        const sources = createSourceStore(data.documents, data.writeWithRecords);
        return { data: { ...data, ...createStores(data.documents), sources }, close: () => data.close() };
      },
    });
    await this.#topology.start();
    this.startReaders();
  }

  startReaders(): void {
    const ignored = () => undefined;
    this.#readers = startSources(
      {
        ...this.topology.ports,
        changeSources: () => Promise.reject(new Error('no database is read here')),
        topicSources: async () => this.adapter,
        avroSchemas: async () => createTenantSchemas(this.#http),
        aloneOnStore: true,
        progress: new Progress(),
        watch: {
          trouble: ignored,
          sourceState: ignored,
          sourceLeft: ignored,
          sourceChanges: ignored,
          sourceReset: ignored,
        },
      },
      TIMING,
    );
  }

  async stopReaders(): Promise<void> {
    await this.#readers?.stop();
    this.#readers = null;
  }

  async closeData(): Promise<void> {
    await this.stopReaders();
    await this.#topology?.close();
    this.#topology = null;
  }

  /** A source that no other test reads. */
  source(): ReadSource {
    this.#sources += 1;
    return new ReadSource(this, `bus-${this.#sources}`);
  }

  async drop(): Promise<void> {
    await this.closeData();
    await Promise.all([this.admin.disconnect(), this.producer.disconnect(), this.#http.close()]);
    await rm(this.#folder, { recursive: true, force: true });
  }
}

/** A source with one stream, and its topics. */
export class ReadSource {
  readonly #shared: ReadingTopics;
  readonly integration: string;
  readonly #suffix = crypto.randomUUID().slice(0, 8);

  constructor(shared: ReadingTopics, name: string) {
    this.#shared = shared;
    this.integration = name;
  }

  get ref() {
    return { workspace: 'shop', integration: this.integration };
  }

  /** The name of a topic that no other test uses. */
  name(topic: string): string {
    return `shop.${topic}.${this.#suffix}`;
  }

  /** `compression`: what the broker compresses records with, whatever the producer does. */
  async make(topics: Readonly<Record<string, number>>, compression = 'producer'): Promise<void> {
    const configEntries = [{ name: 'compression.type', value: compression }];
    const { admin } = this.#shared;
    const made = Object.entries(topics).map(([topic, numPartitions]) => ({
      topic: this.name(topic),
      numPartitions,
      configEntries,
    }));
    await admin.createTopics({ topics: made, waitForLeaders: false });
    const names = made.map(({ topic }) => topic);
    // kafkajs stops waiting if a topic is not known yet.
    await untilFound('leaders of the topics', async () => {
      const found = await admin.fetchTopicMetadata({ topics: names }).catch(() => null);
      const partitions = found?.topics.flatMap((topic) => topic.partitions) ?? [];
      return (partitions.length > 0 && partitions.every(({ leader }) => leader >= 0)) || undefined;
    });
  }

  async remove(topic: string): Promise<void> {
    const { admin } = this.#shared;
    const name = this.name(topic);
    await admin.deleteTopics({ topics: [name] });
    await untilFound('the end of the topic', async () => !(await admin.listTopics()).includes(name) || undefined);
  }

  async send(topic: string, ...messages: readonly Message[]): Promise<void> {
    await this.#shared.producer.send({ topic: this.name(topic), messages: [...messages] });
  }

  /** Publishes the integration, and the stream that reads topics by `event.id`; without topics it is removed. */
  publish(
    topics: readonly string[],
    more: { readonly registry?: { readonly url: string }; readonly format?: 'json' | 'debezium' } = {},
  ) {
    const { registry, ...ofStream } = more;
    const named = Object.fromEntries(topics.map((topic) => [this.name(topic), 'event.id']));
    const body = { ...ofStream, from: { integration: this.integration, topics: named } };
    return this.#shared.topology.publish(
      integration(this.integration, {
        kind: 'kafka',
        brokers: [...this.#shared.brokers],
        ...(registry && { registry }),
      }),
      stream(this.integration, topics.length === 0 ? null : body),
    );
  }

  stored(): Promise<StoredSource | null> {
    return this.#shared.topology.data.sources.load(this.ref);
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

  /** Resolves once topics are read: records that are sent from now on become events. */
  untilReads(): Promise<StoredSource> {
    return this.untilStored(
      'a position in running state',
      ({ state, position }) => state.kind === 'running' && position !== null,
    );
  }

  /** Changes the stored position while nobody reads. */
  async alterPosition(alter: (position: KafkaPosition) => KafkaPosition): Promise<void> {
    const source = await this.untilReads();
    if (source.position?.kind !== 'kafka') throw new Error('a position of another kind');
    const next = { ...source, version: source.version + 1, position: alter(source.position) };
    if ((await this.#shared.topology.data.sources.advance(next, [])) !== 'done') throw new Error('somebody reads');
  }

  async reset(start: TopicStart): Promise<void> {
    const source = await this.stored();
    const request = { by: OWNER_ACTOR, reason: 'looked', at: 1, from: source?.position ?? null, gone: false, start };
    const done = await this.#shared.topology.data.sources.requestReset(this.ref, source?.version ?? 0, request);
    if (done !== 'done') throw new Error('the source was written meanwhile');
  }

  async events(): Promise<readonly LogRecord[]> {
    const records = await this.#shared.topology.records('carillon.events');
    return records.filter(({ headers }) => headers['stream'] === `shop/${this.integration}`);
  }

  /** The bodies of the events on the log, once there are so many. */
  untilEvents(count: number): Promise<readonly string[]> {
    return untilFound(`${count} events`, async () => {
      const events = await this.events();
      return events.length >= count ? events.map(({ value }) => new TextDecoder().decode(value)) : undefined;
    });
  }

  /** The dead letters of the source, once there are so many. */
  untilLetters(count: number): Promise<readonly DeadLetter[]> {
    const { topology } = this.#shared;
    return untilFound(`${count} dead letters`, async () => {
      const records = await topology.records('carillon.dead-letters');
      const letters = records.flatMap(({ value }) => {
        const letter = topology.ports.codecs.deadLetter.decode(value);
        return letter.ok && letter.value.topic.startsWith(`source ${this.integration},`) ? [letter.value] : [];
      });
      return letters.length >= count ? letters : undefined;
    });
  }
}

const reasonOf = ({ state }: StoredSource): string | null => ('reason' in state ? state.reason : null);
