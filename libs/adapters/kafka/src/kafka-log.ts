import type { CarillonError, Duration } from '@carillon/kernel';
import type { EventLog } from '@carillon/ports';
import type { KafkaConnection } from './connection/options.ts';
import { type ConsumerSettings, startConsumer } from './consuming/consumer.ts';
import { DEFAULT_GROUP_PREFIX, groupIdOf } from './consuming/group-id.ts';
import { createHandovers } from './consuming/handovers.ts';
import { type AppenderOptions, createAppender } from './producing/appender.ts';
import { createDisposableProducer } from './producing/disposable-producer.ts';
import { openReader } from './reading/open-reader.ts';
import { patiently, withAdmin } from './topics/ensure-topics.ts';

export type KafkaLogOptions = Partial<AppenderOptions> &
  Partial<ConsumerSettings> & {
    readonly connection: KafkaConnection;
    /** How long a read may take before it is refused. */
    readonly readTimeout?: Duration;
    /** Before the names of our consumer groups on the brokers. */
    readonly groupPrefix?: string;
    /** How often the id of the log is read again, lest its topic is made anew under a running process. */
    readonly identityInterval?: Duration;
    /**
     * Called once if the log was replaced. Positions are then meaningless and the process must exit. Until then every
     * call is refused.
     */
    readonly fatal?: (error: CarillonError) => void;
  };

export type KafkaLog = EventLog & {
  /** Ends all consumers and connections. */
  close(): Promise<void>;
};

const APPENDING: AppenderOptions = { lanes: 2, appendTimeout: 10_000, maxQueuedBytes: 64 * 1024 * 1024 };
const CONSUMING: ConsumerSettings = {
  sessionTimeout: 10_000,
  heartbeatInterval: 1000,
  rebalanceTimeout: 30_000,
  copyInterval: 5000,
  stopPatience: 2000,
};
const READ_TIMEOUT_MS = 10_000;
const IDENTITY_INTERVAL_MS = 30_000;

/** Opens the log whose topics `ensureTopics` has made or verified. */
export async function openKafkaLog(options: KafkaLogOptions): Promise<KafkaLog> {
  const { connection } = options;
  const opened = await openReader(connection, options.readTimeout ?? READ_TIMEOUT_MS, (error) =>
    options.fatal?.(error),
  );
  const { logId, partitions, reader, watermarks, guard, inRange } = opened;
  const makeProducer = () => createDisposableProducer(connection);
  const appender = createAppender(makeProducer, partitions, watermarks, { ...APPENDING, ...defined(options) });
  const settings: ConsumerSettings = { ...CONSUMING, ...defined(options) };
  const handovers = createHandovers();
  const consumptions = new Set<{ stop(): Promise<void> }>();

  const checking = setInterval(() => {
    // A log that is another one is reported by `fatal`. A broker that is away is no news.
    opened.checkIdentity().catch(() => undefined);
  }, options.identityInterval ?? IDENTITY_INTERVAL_MS);
  checking.unref();

  return {
    logId,
    partitions,
    async append(records) {
      guard();
      return appender.append(records);
    },
    read: opened.read,
    bounds: opened.bounds,
    async cut(topic, partition, before) {
      guard();
      inRange(topic, partition);
      const { start, end } = await reader.bounds(topic, partition);
      const offset = String(Math.min(before, end));
      if (before <= start) return;
      await withAdmin(connection, async (admin) => {
        // kafkajs knows the leaders of those topics alone that it was asked about before.
        await patiently(() => admin.fetchTopicOffsets(topic));
        await admin.deleteTopicRecords({ topic, partitions: [{ partition, offset }] });
      });
    },
    async consume(consuming) {
      guard();
      const consumption = await startConsumer(consuming, settings, {
        connection,
        groupId: groupIdOf(options.groupPrefix ?? DEFAULT_GROUP_PREFIX, consuming.group, consuming.topic),
        partitionCount: partitions(consuming.topic),
        watermarks,
        handovers,
        bounds: (partition) => reader.bounds(consuming.topic, partition),
      });
      consumptions.add(consumption);
      return {
        async stop() {
          await consumption.stop();
          consumptions.delete(consumption);
        },
      };
    },
    async close() {
      clearInterval(checking);
      await Promise.all([...consumptions].map((consumption) => consumption.stop()));
      appender.close();
      opened.close();
    },
  };
}

/** Without what is undefined, so that it does not hide a default. */
const defined = <T extends object>(options: T): T =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as T;
