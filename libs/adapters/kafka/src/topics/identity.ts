import { TOPICS } from '@carillon/contracts';
import { CarillonError, type Duration, isId, type LogId } from '@carillon/kernel';
import type { TopicName } from '@carillon/ports';
import { createBrokers } from '../connection/cluster.ts';
import type { KafkaConnection } from '../connection/options.ts';
import { createDisposableProducer } from '../producing/disposable-producer.ts';
import { ReadyRecord } from '../producing/record-batch.ts';
import { createReader } from '../reading/reader.ts';
import { IDENTITY_HEADER, isIdentity } from '../reading/records.ts';
import { createWatermarks } from '../watermarks.ts';

/** Id of the log, and the topics with which it was created. */
export type LogIdentity = { readonly logId: LogId; readonly topics: readonly TopicName[] };

const CONFIG = 'carillon.config';
const TIMEOUT_MS = 15_000;

/**
 * The first record of `carillon.config` names the log (header `carillon_log_id`). Who deletes that topic deletes the
 * name with it, and the next start makes a new one. Several that start at once may each append a name: the first counts.
 */
export async function establishIdentity(connection: KafkaConnection, fresh: () => LogId): Promise<LogId> {
  const before = await readIdentity(connection);
  if (before) return before.logId;
  const producer = createDisposableProducer(connection);
  try {
    await producer.connect();
    const headers = { [IDENTITY_HEADER]: fresh(), topics: TOPICS.join(' ') };
    const value = Buffer.from(JSON.stringify(headers));
    await producer.send(new Map([[CONFIG, [new ReadyRecord(0, 'log', value, headers)]]]));
  } finally {
    producer.discard();
  }
  const after = await readIdentity(connection);
  if (!after) throw new CarillonError('log_unavailable', `${CONFIG} does not have the id of the log yet; start again`);
  return after.logId;
}

/** The name of the log, or null where its topic is empty. Throws where the topic begins with something else. */
export async function readIdentity(
  connection: KafkaConnection,
  deadline: Duration = TIMEOUT_MS,
): Promise<LogIdentity | null> {
  const brokers = createBrokers(connection, [CONFIG]);
  const watermarks = createWatermarks(() => undefined);
  const reader = createReader(brokers, watermarks, deadline);
  try {
    const { start } = await reader.bounds(CONFIG, 0);
    const [first] = start === 0 ? await reader.raw(CONFIG, 0, 0) : [];
    if (!first && start === 0) return null;
    const headers: Readonly<Record<string, string>> = first?.headers ?? {};
    const logId = headers[IDENTITY_HEADER] ?? '';
    if (!first || !isIdentity(CONFIG, first) || !isId('log', logId)) {
      throw new CarillonError(
        'wrong_log',
        `${CONFIG} does not begin with the id of a log: records were deleted from it, or another program made it. ` +
          'Restore the topic, or delete all topics and stores of Carillon to begin a new log',
      );
    }
    return { logId: logId as LogId, topics: (headers['topics'] ?? '').split(' ') as TopicName[] };
  } finally {
    brokers.close();
  }
}
