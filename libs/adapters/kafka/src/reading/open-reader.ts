import { TOPICS } from '@carillon/contracts';
import { CarillonError, isCarillonError, type Duration } from '@carillon/kernel';
import type { EventLog, TopicName } from '@carillon/ports';
import { createBrokers } from '../connection/cluster.ts';
import type { KafkaConnection } from '../connection/options.ts';
import { readIdentity } from '../topics/identity.ts';
import { createWatermarks, type Watermarks } from '../watermarks.ts';
import { createReader, type Reader } from './reader.ts';

/** The log, opened for reading only. */
export type OpenReader = Pick<EventLog, 'logId' | 'partitions' | 'read' | 'bounds'> & {
  readonly reader: Reader;
  readonly watermarks: Watermarks;
  /** Throws the error of a log that is not the one that it was. */
  readonly guard: () => void;
  /** Throws RangeError for a partition that the log does not have. */
  readonly inRange: (topic: TopicName, partition: number) => void;
  /** Reads the id of the log again. Rejects with CarillonError `wrong_log` if it is another one, and with `log_unavailable`. */
  readonly checkIdentity: () => Promise<void>;
  readonly close: () => void;
};

/**
 * Opens the log whose topics `ensureTopics` has made or verified. `lost` is called once when the log is not the one that it was; until
 * the process ends, every call is refused.
 */
export async function openReader(
  connection: KafkaConnection,
  readTimeout: Duration,
  lost: (error: CarillonError) => void,
): Promise<OpenReader> {
  const identity = await readIdentity(connection);
  if (!identity) throw new CarillonError('wrong_log', 'the topics have no log id: Carillon did not create them');
  const { logId } = identity;

  let cause: CarillonError | null = null;
  const refuseAll = (error: CarillonError): void => {
    if (cause) return;
    cause = error;
    lost(error);
  };
  const guard = (): void => {
    if (cause) throw cause;
  };
  const watermarks = createWatermarks(refuseAll);
  const brokers = createBrokers(connection, TOPICS);
  const reader = createReader(brokers, watermarks, readTimeout);
  const counts = await brokers.use('counting partitions', readTimeout, async (cluster) => {
    const found = TOPICS.map((topic) => [topic, cluster.findTopicPartitionMetadata(topic).length] as const);
    return new Map<TopicName, number>(found);
  });
  const partitions = (topic: TopicName): number => counts.get(topic) ?? 0;
  const inRange = (topic: TopicName, partition: number): void => {
    if (partition >= 0 && partition < partitions(topic)) return;
    throw new RangeError(`the log has no partition ${partition} of ${topic}`);
  };

  return {
    logId,
    partitions,
    reader,
    watermarks,
    guard,
    inRange,
    async read(topic, partition, from, maxRecords, maxBytes) {
      guard();
      inRange(topic, partition);
      return reader.read(topic, partition, from, maxRecords, maxBytes);
    },
    async bounds(topic, partition) {
      guard();
      inRange(topic, partition);
      return reader.bounds(topic, partition);
    },
    async checkIdentity() {
      try {
        const found = (await readIdentity(connection, readTimeout))?.logId;
        if (found === logId) return;
        const held = `it held log ${logId} and now ${found ?? 'none'}`;
        throw new CarillonError(
          'wrong_log',
          `carillon.config was deleted and created again while this process ran: ${held}`,
        );
      } catch (error) {
        if (isCarillonError(error) && error.code === 'wrong_log') refuseAll(error);
        throw error;
      }
    },
    close: () => brokers.close(),
  };
}
