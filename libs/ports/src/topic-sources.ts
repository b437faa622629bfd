import type {
  KafkaPosition,
  SourceProblem,
  StoppedReason,
  TableReason,
  TopicStart,
  WaitingProblem,
  WaitingReason,
} from '@carillon/domain/changes';
import type { Instant, Result } from '@carillon/kernel';
import type { SourceReader, TableReading } from './change-sources.ts';

/** A Kafka cluster to read, with its secrets resolved. No secret reaches a log, a trace or a response. */
export type TopicTarget = {
  /** Names of workspace and integration. */
  readonly workspace: string;
  readonly integration: string;
  /** `host:port` of brokers to begin with. */
  readonly brokers: readonly string[];
  /** Null: the connection is not encrypted. `ca`: PEM of the authority that signed the brokers' certificates, or null for the public ones. */
  readonly tls: { readonly ca: string | null } | null;
  readonly sasl: {
    readonly mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512';
    readonly username: string;
    readonly password: string;
  } | null;
};

/** A topic of the cluster. */
export type SourceTopic = {
  readonly topic: string;
  readonly partitions: number;
  /** Why it cannot be read. Null if it can. */
  readonly problem: SourceProblem<TableReason> | null;
};

/** The result of a check. It changes nothing in the cluster. */
export type TopicCheck = {
  /** Server description such as `Kafka with 3 brokers`. Null if it was not reached. */
  readonly server: string | null;
  /** Problems for which a reader would wait. */
  readonly problems: readonly SourceProblem<WaitingReason>[];
  /** The topics that were asked about. Empty if there are problems. */
  readonly topics: readonly SourceTopic[];
};

/** A record of a topic. */
export type TopicRecord = {
  readonly topic: string;
  /** Kafka's id of the topic. A topic that was deleted and made again has another. */
  readonly topicId: string;
  readonly partition: number;
  readonly offset: number;
  readonly key: Uint8Array | null;
  /** Null: a tombstone, which says that the key was deleted. */
  readonly value: Uint8Array | null;
  /** The last value counts if a name is repeated. */
  readonly headers: Readonly<Record<string, string>>;
  /** Time of the record, as its producer or its broker set it. */
  readonly at: Instant;
  /**
   * Timestamp of the record in the topic, even if it is no valid time. -1 if there is none. Equal each time the record
   * is read.
   */
  readonly timestamp: number;
  /** Why its bytes could not be unpacked, in a sentence; key and value are null then. Null if they could. */
  readonly unreadable: string | null;
  /** Offset of the last record of a batch that could not be unpacked. This record stands for all of its records. */
  readonly lastOffset?: number;
};

/** Records that were read, in the order of each partition, and the position after them. Without records only the position moved on. */
export type TopicBatch = { readonly records: readonly TopicRecord[]; readonly position: KafkaPosition };

export type TopicReport = {
  /** The topics that were asked for. */
  readonly tables: readonly TableReading[];
  /**
   * Number of unread records, including transaction markers and compacted records. Null until the end of each partition
   * is known.
   */
  readonly lagRecords: number | null;
};

export type TopicHandlers = {
  /** Makes a batch durable together with its position. Batches come one at a time, in order. If it rejects, the reader ends. */
  take(batch: TopicBatch): Promise<void>;
  /** Called when topics change, and every few seconds while it reads. */
  report(report: TopicReport): void;
};

/** Why a reader ended. `closed`: the caller closed it, or `take` rejected. */
export type TopicEnd =
  | { readonly kind: 'closed'; readonly error: unknown }
  | ({ readonly kind: 'waiting' } & WaitingProblem)
  /** `lagRecords`: records that the topics held then. Null if that is not known, and for databases. */
  | ({ readonly kind: 'stopped'; readonly lagRecords: number | null } & SourceProblem<StoppedReason>);

/**
 * Reads topics of Kafka clusters that other programs write. It joins no consumer group and stores nothing in the cluster, so that
 * the position of the caller is the only one. Two readers may read one source; the caller's store lets one of them advance.
 */
export type TopicSources = {
  /** Looks at the cluster and at these topics, until `signal` aborts. Never rejects because of the cluster. */
  check(target: TopicTarget, topics: readonly string[], signal?: AbortSignal): Promise<TopicCheck>;
  /** Returns the topics that the user may see, by name, at most 1,000, without those that Kafka or Carillon keeps for itself. */
  topics(
    target: TopicTarget,
    signal?: AbortSignal,
  ): Promise<Result<readonly SourceTopic[], SourceProblem<WaitingReason>>>;
  /**
   * Reads `topics` after a position. A topic that the position does not know is read from its end, and `take` gets the position at
   * once. A partition that the position does not know is read from its beginning. Before it reads, it checks that nothing is missing
   * between the position and the records; if something is, it ends `stopped`.
   */
  open(
    target: TopicTarget,
    topics: readonly string[],
    from: KafkaPosition | null,
    handlers: TopicHandlers,
  ): SourceReader<TopicEnd>;
  /** Returns the position at which a reset continues: at the oldest records, or at the end. */
  reset(
    target: TopicTarget,
    topics: readonly string[],
    start: TopicStart,
  ): Promise<Result<KafkaPosition, SourceProblem<WaitingReason>>>;
};
