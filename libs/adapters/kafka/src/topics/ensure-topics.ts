import { TOPICS } from '@carillon/contracts';
import { setTimeout as pause } from 'node:timers/promises';
import { CarillonError, type LogId } from '@carillon/kernel';
import type { TopicName } from '@carillon/ports';
import type { Admin } from 'kafkajs';
import { createClient } from '../connection/client.ts';
import { refused, unavailable } from '../connection/cluster.ts';
import { isRefusal, isStale, staleError } from '../connection/faults.ts';
import type { KafkaConnection } from '../connection/options.ts';
import { refuseOldBroker } from './broker-age.ts';
import { establishIdentity, readIdentity } from './identity.ts';
import { type Inspection, inspectTopics, type TopicDifference } from './inspect.ts';
import { REPLICATION, settingsOf, type TopicDefinitions, type TopicOptions } from './settings.ts';

const SETTLING_MS = 15_000;

export type EnsureTopicsOptions = TopicOptions & {
  /** The id that the log gets if it is made now. */
  readonly freshLogId: () => LogId;
};

export type EnsuredTopics = {
  readonly logId: LogId;
  /** Topics that were made now. */
  readonly created: readonly TopicName[];
};

/**
 * Makes missing topics and verifies the settings of the others. It changes no setting. A difference is an error with topic, setting, found
 * and wanted value, unless `adjustTopics` can change it. Several processes may run it at once.
 */
export async function ensureTopics(
  connection: KafkaConnection,
  definitions: TopicDefinitions,
  options: EnsureTopicsOptions,
): Promise<EnsuredTopics> {
  await refuseOldBroker(connection);
  const created = await withAdmin(connection, async (admin) => {
    const before = await patiently(() => inspectTopics(admin, definitions, options));
    refuse(before.differences);
    await refuseDeletion(connection, before.missing);
    await createMissing(admin, before.missing, definitions, options);
    refuse((await inspectSettled(admin, definitions, options)).differences);
    return before.missing;
  });
  return { logId: await establishIdentity(connection, options.freshLogId), created };
}

/** The same comparison without making anything. */
export function inspectKafka(
  connection: KafkaConnection,
  definitions: TopicDefinitions,
  options: TopicOptions = {},
): Promise<Inspection> {
  return withAdmin(connection, (admin) => patiently(() => inspectTopics(admin, definitions, options)));
}

/** Asks the brokers what only an administrator may, over a connection of its own. */
export async function withAdmin<T>(connection: KafkaConnection, work: (admin: Admin) => Promise<T>): Promise<T> {
  const client = createClient(connection, { initialRetryTime: 100, maxRetryTime: 1000, multiplier: 2, retries: 8 });
  const admin = client.kafka.admin();
  try {
    await admin.connect();
    return await work(admin);
  } catch (error) {
    if (error instanceof CarillonError) throw error;
    const what = `asking ${connection.brokers.join(', ')} about topics`;
    throw isRefusal(error) ? refused(what, error) : unavailable(what, error);
  } finally {
    client.cut();
  }
}

/** `topics` of the definitions that have a record naming the log are never made again on the quiet. */
async function refuseDeletion(connection: KafkaConnection, missing: readonly TopicName[]): Promise<void> {
  if (missing.length === 0 || missing.includes('carillon.config')) return;
  const identity = await readIdentity(connection);
  const deleted = missing.filter((topic) => identity?.topics.includes(topic));
  if (deleted.length === 0) return;
  throw new CarillonError(
    'wrong_log',
    `log ${identity?.logId} was made with ${deleted.join(', ')}, and that topic is missing: a new topic would count ` +
      'positions from 0 again. Restore the topic, or delete all topics and stores of Carillon to begin a new log',
  );
}

async function createMissing(
  admin: Admin,
  missing: readonly TopicName[],
  definitions: TopicDefinitions,
  options: TopicOptions,
): Promise<void> {
  if (missing.length === 0) return;
  const { brokers } = await admin.describeCluster();
  if (!options.singleBroker && brokers.length < REPLICATION) {
    throw new CarillonError(
      'invalid_configuration',
      `the topics need ${REPLICATION} copies and the cluster has ${brokers.length} broker${brokers.length === 1 ? '' : 's'}; ` +
        'add brokers, or set single_broker: true and accept that a lost disk loses the log',
    );
  }
  const replicationFactor = Math.min(REPLICATION, brokers.length);
  const inSync = replicationFactor >= REPLICATION ? { singleBroker: false } : {};
  // The log's own topic last: whoever finds it finds the others.
  const ordered = TOPICS.filter((topic) => missing.includes(topic)).toSorted(
    (a, b) => Number(a === 'carillon.config') - Number(b === 'carillon.config'),
  );
  await admin
    .createTopics({
      waitForLeaders: true,
      topics: ordered.map((topic) => ({
        topic,
        numPartitions: definitions[topic].partitions,
        replicationFactor,
        configEntries: settingsOf(topic, definitions[topic], { ...options, ...inSync }).map(({ name, wanted }) => ({
          name,
          value: wanted,
        })),
      })),
    })
    .catch((error: unknown) => {
      // Made, but not every broker knows it: what follows waits for that.
      if (!isAlreadyThere(error) && !isStale(error)) throw error;
    });
}

/** Another process made them at the same moment: then they are verified like any other. */
function isAlreadyThere(error: unknown): boolean {
  const errors: unknown = error instanceof Error ? (error as unknown as Record<string, unknown>)['errors'] : null;
  return (
    Array.isArray(errors) &&
    errors.every((each: unknown) => each instanceof Error && 'type' in each && each.type === 'TOPIC_ALREADY_EXISTS')
  );
}

/** Fresh topics need a moment until every broker tells of them. */
const inspectSettled = (admin: Admin, definitions: TopicDefinitions, options: TopicOptions): Promise<Inspection> =>
  patiently(async () => {
    const inspection = await inspectTopics(admin, definitions, options);
    if (inspection.missing.length === 0) return inspection;
    throw staleError(`still missing: ${inspection.missing.join(', ')}`);
  });

/** Repeats what failed because a topic is being made or its leader chosen. */
export async function patiently<T>(work: () => Promise<T>): Promise<T> {
  const until = Date.now() + SETTLING_MS;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isStale(error) || Date.now() > until) throw error;
    }
    await pause(100);
  }
}

function refuse(differences: readonly TopicDifference[]): void {
  const fixed = differences.filter(({ isAdjustable }) => !isAdjustable);
  if (fixed.length === 0) return;
  const list = fixed.map(({ topic, setting, found, wanted }) => `${topic}: ${setting} is ${found}, wanted ${wanted}`);
  throw new CarillonError(
    'invalid_configuration',
    `Kafka is not set up as Carillon needs it: ${list.join('; ')}. Nothing was changed`,
  );
}
