import { copyFile, readFile, rm } from 'node:fs/promises';
import { createGuardedHttp } from '@carillon/adapter-guarded-http';
import { createTopicSources } from '@carillon/adapter-kafka';
import { createPostgresSources } from '@carillon/adapter-postgres';
import { createTenantSchemas } from '@carillon/adapter-schema-registry';
import {
  readDebezium,
  type AvroSchemas,
  type DebeziumRead,
  type KafkaPosition,
  type PostgresPosition,
  type ReadChange,
} from '@carillon/domain/changes';
import type { SourceEnd, SourceReader, TopicEnd, TopicRecord } from '@carillon/ports';
import {
  createPostgresDatabase,
  startConnect,
  type ConnectService,
  type PostgresDatabase,
} from '@carillon/testing/services';
import { untilFound } from '@carillon/testing/topology';
import kafkajs from 'kafkajs';
import { createNeededSchemas, type NeededSchemas } from '../../../../apps/engine/src/sources/needed-schemas.ts';
import { LOOPBACK } from '../reading-topics.ts';

export const FORMATS = ['json', 'plain', 'avro'] as const;
/** How Debezium writes envelopes: JSON with and without the schema, or Avro. */
export type Format = (typeof FORMATS)[number];

export type ReadEnvelope = { readonly read: DebeziumRead; readonly record: TopicRecord };

const TIMEOUT_MS = 600_000;
/** The key of the last row of a table. */
const LAST_ID = -1;

type Servers = {
  readonly postgres: string;
  readonly brokers: readonly string[];
  /** Address of Confluent's interface. */
  readonly registry: string;
};

const AVRO = 'io.apicurio.registry.utils.converter.AvroConverter';

function convertersOf(format: Format, registry: string): Readonly<Record<string, string>> {
  const settings: Readonly<Record<string, string>> =
    format === 'avro'
      ? {
          '': AVRO,
          '.apicurio.registry.url': registry.replace('/apis/ccompat/v7', '/apis/registry/v2'),
          '.apicurio.registry.auto-register': 'true',
          '.apicurio.registry.find-latest': 'true',
          '.apicurio.registry.as-confluent': 'true',
          '.apicurio.registry.use-id': 'contentId',
          '.apicurio.registry.headers.enabled': 'false',
        }
      : {
          '': 'org.apache.kafka.connect.json.JsonConverter',
          '.schemas.enable': String(format === 'json'),
          '.replace.null.with.default': 'false',
        };
  const both = ['key.converter', 'value.converter'].flatMap((converter) =>
    Object.entries(settings).map(([name, value]) => [`${converter}${name}`, value]),
  );
  return Object.fromEntries(both) as Readonly<Record<string, string>>;
}

/** A database that Carillon's own reader reads, and Debezium in each format, from the same moment on. */
export class TwoReaders {
  readonly database: PostgresDatabase;
  readonly tables: readonly string[];
  /** What the built-in reader read. */
  readonly changes: ReadChange[] = [];
  readonly #envelopes = new Map<Format, ReadEnvelope[]>(FORMATS.map((format) => [format, []]));
  readonly #servers: Servers;
  readonly #suffix = crypto.randomUUID().slice(0, 8).replaceAll('-', '');
  readonly #readers: SourceReader<unknown>[] = [];
  readonly #schemas: NeededSchemas;
  readonly #admin: kafkajs.Admin;
  #connect: ConnectService | undefined;
  #end: SourceEnd | TopicEnd | null = null;
  #isDropped = false;

  private constructor(database: PostgresDatabase, tables: readonly string[], servers: Servers) {
    this.database = database;
    this.tables = tables;
    this.#servers = servers;
    const schemas = createTenantSchemas(createGuardedHttp({ guard: LOOPBACK }));
    const registry = { url: servers.registry, username: null, password: null };
    this.#schemas = createNeededSchemas(registry, async () => schemas);
    const kafka = new kafkajs.Kafka({ brokers: [...servers.brokers], logLevel: kafkajs.logLevel.NOTHING });
    this.#admin = kafka.admin();
  }

  /** Makes a database, the tables by `sql`, and reads them. */
  static async create(servers: Servers, tables: readonly string[], sql: string): Promise<TwoReaders> {
    const readers = new TwoReaders(await createPostgresDatabase(servers.postgres), tables, servers);
    try {
      await readers.database.run(sql);
      await readers.#start();
    } catch (error) {
      await readers.drop();
      throw error;
    }
    return readers;
  }

  /** The records that the connector of a format wrote, in the order of each table. */
  envelopes(format: Format): readonly ReadEnvelope[] {
    return this.#envelopes.get(format) ?? [];
  }

  #prefix(format: Format): string {
    return `${format}_${this.#suffix}`;
  }

  async #start(): Promise<void> {
    await this.#admin.connect();
    const topics = FORMATS.flatMap((format) => this.tables.map((table) => `${this.#prefix(format)}.${table}`));
    await this.#admin.createTopics({
      topics: topics.map((topic) => ({ topic, numPartitions: 1 })),
      waitForLeaders: true,
    });
    await Promise.all([this.#readDatabase(), ...FORMATS.map((format) => this.#readTopics(format))]);
    const connectors = FORMATS.map((format) => [format, this.#connector(format)]);
    this.#connect = await startConnect({
      brokers: this.#servers.brokers,
      connectors: Object.fromEntries(connectors) as Readonly<Record<string, Readonly<Record<string, string>>>>,
    });
    await this.#untilSlotsAreRead();
  }

  async #untilSlotsAreRead(): Promise<void> {
    await untilFound(
      'the readers of the database',
      async () => {
        this.#assertReading();
        const [row] = await this.database.run(
          'SELECT count(*)::int AS slots FROM pg_replication_slots WHERE database = current_database() AND active',
        );
        return row?.['slots'] === FORMATS.length + 1 || undefined;
      },
      TIMEOUT_MS,
    );
  }

  #readDatabase(): Promise<void> {
    const target = { workspace: 'shop', integration: 'shop', url: this.database.url, ca: null };
    const sources = createPostgresSources({ guard: LOOPBACK });
    return this.#keepReading<PostgresPosition>((from, advance) =>
      sources.open(target, this.tables, from, {
        take: async ({ changes, position }) => {
          for (const read of changes) {
            if (!('change' in read)) throw new Error('a change could not be read', { cause: read.error });
            this.changes.push(read);
          }
          advance(position);
        },
        mostChanges: () => 300,
        report: () => undefined,
      }),
    );
  }

  #readTopics(format: Format): Promise<void> {
    const target = { workspace: 'shop', integration: 'shop', brokers: this.#servers.brokers, tls: null, sasl: null };
    const topics = this.tables.map((table) => `${this.#prefix(format)}.${table}`);
    const sources = createTopicSources({ guard: LOOPBACK });
    return this.#keepReading<KafkaPosition>((from, advance) =>
      sources.open(target, topics, from, {
        take: async ({ records, position }) => {
          const schemas = await this.schemasOf(records);
          for (const record of records) {
            this.#envelopes.get(format)?.push({ read: readDebezium(record, 'shop', schemas), record });
          }
          advance(position);
        },
        report: () => undefined,
      }),
    );
  }

  /** Asks the registry again while it is away, as an engine does. */
  schemasOf(records: readonly TopicRecord[]): Promise<AvroSchemas> {
    return untilFound(
      'the schemas of records',
      async () => {
        const schemas = await this.#schemas.of(records);
        return schemas.ok ? schemas.value : undefined;
      },
      TIMEOUT_MS,
    );
  }

  /** Opens a reader, and again after its position when it waits. Resolves when the first position is known. */
  #keepReading<Position>(
    open: (from: Position | null, advance: (position: Position) => void) => SourceReader<SourceEnd | TopicEnd>,
  ): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const read = (from: Position | null): void => {
      let position = from;
      const reader = open(from, (next) => {
        position = next;
        resolve();
      });
      this.#readers.push(reader);
      void reader.ended.then((end) => {
        if (this.#isDropped) return;
        if (end.kind === 'waiting') read(position);
        else this.#end ??= end;
      });
    };
    read(null);
    return promise;
  }

  /** Throws if a reader ended. */
  #assertReading(): void {
    if (this.#end !== null) throw new Error('a reader ended', { cause: this.#end });
  }

  #connector(format: Format): Readonly<Record<string, string>> {
    const { hostname, port, username } = new URL(this.#servers.postgres);
    return {
      'connector.class': 'io.debezium.connector.postgresql.PostgresConnector',
      'plugin.name': 'pgoutput',
      'database.hostname': hostname,
      'database.port': port,
      'database.user': username,
      'database.dbname': this.database.name,
      'topic.prefix': this.#prefix(format),
      'slot.name': this.#prefix(format),
      'publication.name': this.#prefix(format),
      'publication.autocreate.mode': 'filtered',
      'table.include.list': this.tables.join(','),
      'snapshot.mode': 'no_data',
      'poll.interval.ms': '50',
      'schema.name.adjustment.mode': 'avro',
      // The database keeps what a connector with an old offset reads again.
      'lsn.flush.mode': 'manual',
      ...convertersOf(format, this.#servers.registry),
    };
  }

  /** Writes a last row to each table, and waits until all readers have read it `times` times. */
  async untilAllRead(times = 1): Promise<void> {
    if (times === 1) {
      for (const table of this.tables) await this.database.run(`INSERT INTO ${table} (id) VALUES (${LAST_ID})`);
    }
    const isLast = ({ change }: ReadChange): boolean => change.event['id'] === LAST_ID;
    await untilFound(
      'the last row',
      async () => {
        this.#assertReading();
        const complete = [this.changes.filter(isLast).length >= this.tables.length];
        for (const format of FORMATS) {
          const changes = this.envelopes(format).flatMap(({ read }) => (read.kind === 'change' ? [read.read] : []));
          complete.push(changes.filter(isLast).length >= this.tables.length * times);
        }
        return complete.every(Boolean) || undefined;
      },
      TIMEOUT_MS,
    );
  }

  get #running(): ConnectService {
    if (this.#connect === undefined) throw new Error('Connect does not run');
    return this.#connect;
  }

  /** Keeps the offsets that Connect has written, once there are some of each connector. */
  async keepOffsets(): Promise<void> {
    await untilFound(
      'the offsets',
      async () => {
        const text = await readFile(this.#running.offsets, 'latin1').catch(() => '');
        return FORMATS.every((format) => text.includes(this.#prefix(format))) || undefined;
      },
      TIMEOUT_MS,
    );
    await copyFile(this.#running.offsets, `${this.#running.offsets}.old`);
  }

  /** Kills Connect, and starts it with the offsets that were kept. */
  async restartFromKeptOffsets(): Promise<void> {
    const connect = this.#running;
    await connect.kill();
    await rm(connect.offsets);
    await copyFile(`${connect.offsets}.old`, connect.offsets);
    await connect.restart();
    await this.#untilSlotsAreRead();
  }

  async drop(): Promise<void> {
    this.#isDropped = true;
    await this.#connect?.stop();
    await Promise.all(this.#readers.map((reader) => reader.close()));
    const topics = (await this.#admin.listTopics()).filter((name) => name.includes(this.#suffix));
    if (topics.length > 0) await this.#admin.deleteTopics({ topics });
    await this.#admin.disconnect();
    await this.database.drop();
  }
}
