import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import {
  adjustTopics,
  countMembers,
  ensureTopics,
  inspectKafka,
  openKafkaLog,
  type KafkaConnection,
  type TopicOptions,
} from '@carillon/adapter-kafka';
import { openMongo, type MongoStores } from '@carillon/adapter-mongodb';
import { createSchemaRegistry, type RegistryConnection } from '@carillon/adapter-schema-registry';
import {
  DEFAULT_TOPIC_RETENTION,
  namedTopics,
  PERSONAL_TOPICS,
  RECORD_SCHEMAS,
  rowRetentionOf,
  TOPIC_DEFINITIONS,
  withNamedRetention,
} from '@carillon/contracts';
import type { NamedRetention } from '@carillon/domain/configuration';
import { checkStep, checkSteps, type Check } from '@carillon/control';
import { CarillonError, ID_PREFIXES, type LogId } from '@carillon/kernel';
import type { EventLog } from '@carillon/ports';
import { appendBeforeWrite, COLLECTIONS, createSourceStore, createStores, removeExpired } from '@carillon/stores';
import type { Backend, BackendOptions } from './backend.ts';
import { clusterErasure } from './cluster-erasure.ts';
import { kafkaConnection, type ClusterSettings } from './cluster-settings.ts';
import { createErasedRecords, ERASED_RECORD_COLLECTIONS, withErasedRecords } from './erased-records.ts';
import { watchDependency } from './dependency-watch.ts';
import { READERS } from './log-positions.ts';

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const nextTurn = (): Promise<unknown> => new Promise((resolve) => setImmediate(resolve));
const freshLogId = (): LogId =>
  (ID_PREFIXES.log + Array.from(randomBytes(26), (byte) => ALPHABET.charAt(byte & 31)).join('')) as LogId;

/**
 * Connects to Kafka, MongoDB and the registry; topics, collections and indexes are made where they are missing and
 * verified where they are there. Rejects where something differs, naming it. Any number of processes may do so at once.
 */
export async function openClusterBackend(cluster: ClusterSettings, options: BackendOptions): Promise<Backend> {
  const { clock, holder, slice } = options;
  const connection: KafkaConnection = {
    ...kafkaConnection(cluster.kafka, `${holder.replace(' ', '-')}@${hostname()}`),
    log: options.kafkaSaid,
  };
  const { singleBroker } = cluster.kafka;
  const opened: (() => Promise<void> | void)[] = [];
  const close = async (): Promise<void> => {
    for (const end of opened.splice(0).toReversed()) await end();
  };
  try {
    await ensureTopics(connection, TOPIC_DEFINITIONS, { singleBroker, freshLogId });
    const kafka = await openKafkaLog({ connection, fatal: options.fatal });
    opened.push(() => kafka.close());
    const { stores: place } = cluster;
    const yieldTurn = slice && (() => slice.yield());
    const collections = [...COLLECTIONS, ...ERASED_RECORD_COLLECTIONS];
    const mongo = await openMongo({ ...place, clock, collections, pause: yieldTurn });
    opened.push(() => mongo.close());
    const erasedRecords = createErasedRecords(mongo.documents, PERSONAL_TOPICS);
    // Roles read the log by this list, so it is read before they start.
    await erasedRecords.newest();
    const log = withErasedRecords(kafka, erasedRecords);
    const registry = createSchemaRegistry(cluster.registry);
    opened.push(() => registry.close());
    const watches = [
      watchDependency('Kafka', clock, () => log.bounds('carillon.config', 0)),
      watchDependency('database', clock, () => mongo.ping()),
    ];
    for (const watch of watches) opened.push(() => watch.stop());
    return {
      ...mongo,
      ...createStores(mongo.documents),
      sources: createSourceStore(mongo.documents, appendBeforeWrite(log, mongo.documents)),
      log,
      registry,
      kind: 'cluster',
      place: `cluster, Kafka at ${cluster.kafka.brokers.join(', ')}`,
      alone: false,
      foundWal: null,
      calledOffBelow: new Map(),
      calledOffCohortsBelow: new Map(),
      calledOffJobs: new Set(),
      erasure: clusterErasure(log, mongo, erasedRecords, { connection, yieldTurn: yieldTurn ?? nextTurn }),
      erasedRecords,
      readiness: () => watches.map((watch) => watch.check()),
      checks: (retention) => clusterChecks(cluster, connection, log, mongo, retention),
      async refuseRunningRoles() {
        const members = await countMembers(connection, READERS);
        if (members.size === 0) return;
        const groups = [...members].map(([group, count]) => `${group} (${count})`).join(', ');
        throw new CarillonError(
          'wrong_usage',
          `roles are running: stop all roles first. Consumer groups with members: ${groups}. A killed process counts for 10 s`,
        );
      },
      async backup() {
        throw new CarillonError(
          'invalid_request',
          'backup copies the embedded backend; on a cluster use the tools of Kafka and MongoDB, and keep the keys folder',
        );
      },
      defaultRetention: DEFAULT_TOPIC_RETENTION,
      async applyRetention(now, retention) {
        // Kafka first, because it removes records by the old retention until its topics are adjusted.
        try {
          await adjustTopics(connection, TOPIC_DEFINITIONS, { singleBroker, retention: namedTopics(retention) });
        } finally {
          await mongo.applyRetention(now, rowRetentionOf(withNamedRetention(retention, DEFAULT_TOPIC_RETENTION)));
          await removeExpired(mongo.documents, now);
          await erasedRecords.removeBefore(async (topic, partition) => (await log.bounds(topic, partition)).start);
        }
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function clusterChecks(
  { kafka, registry }: ClusterSettings,
  connection: KafkaConnection,
  log: EventLog,
  mongo: MongoStores,
  retention: NamedRetention,
): Promise<readonly Check[]> {
  const { singleBroker } = kafka;
  const copies: Check[] = singleBroker
    ? [{ step: 'Kafka copies', ok: false, detail: 'single_broker: true, so a lost disk loses the log' }]
    : [];
  const [answers, topics, stores, schemas] = await Promise.all([
    checkStep('Kafka', async () => {
      await log.bounds('carillon.config', 0);
      return `answers at ${kafka.brokers.join(', ')}`;
    }),
    checkStep('Kafka topics', () => compareTopics(connection, { singleBroker, retention: namedTopics(retention) })),
    checkSteps('database', () => mongo.verify()),
    checkStep('schema registry', () => findSchemas(registry)),
  ]);
  const ofKafka = answers.ok ? [answers, topics, ...copies] : [answers];
  return [...ofKafka, ...passwordCheck(kafka), ...stores, schemas];
}

async function compareTopics(connection: KafkaConnection, options: TopicOptions): Promise<string> {
  const { missing, differences } = await inspectKafka(connection, TOPIC_DEFINITIONS, options);
  const found = [
    ...missing.map((topic) => `${topic} is missing`),
    ...differences.map((one) => `${one.topic}: ${one.setting} is ${one.found}, wanted ${one.wanted}`),
  ];
  const adjusting = differences.some(({ isAdjustable }) => isAdjustable)
    ? '. Control sets retention.ms and segment.ms within a minute; if they stay, give it the right to alter the configuration of topics'
    : '';
  if (found.length > 0) throw new Error(found.join('; ') + adjusting);
  return 'as they have to be';
}

/** Looks and registers nothing; rejects with the subjects that the registry does not know. */
export async function findSchemas(connection: RegistryConnection): Promise<string> {
  // A new client has an empty cache, so it asks the registry.
  const registry = createSchemaRegistry(connection);
  try {
    const schemas = Object.values(RECORD_SCHEMAS);
    const ids = await Promise.all(schemas.map(({ subject, current }) => registry.find(subject, current)));
    const lost = schemas.filter((_, at) => ids[at] === null).map(({ subject }) => subject);
    if (lost.length === 0) return `knows ${schemas.length} schemas`;
    throw new Error(
      `does not know ${lost.join(', ')}: did it lose them? Records on the log carry the ids that it gave: restore it ` +
        'before a role starts and registers them under others',
    );
  } finally {
    registry.close();
  }
}

/** With `plain` and no TLS, anyone on the network path can read the password. */
export const passwordCheck = ({ sasl, tls }: Pick<ClusterSettings['kafka'], 'sasl' | 'tls'>): readonly Check[] =>
  sasl?.mechanism === 'plain' && !tls
    ? [
        {
          step: 'Kafka password',
          ok: false,
          detail: 'is sent over the network unencrypted: set CARILLON_KAFKA_TLS=true, or a scram mechanism',
        },
      ]
    : [];
