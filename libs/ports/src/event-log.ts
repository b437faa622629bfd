import type { RowRetention, TopicName, TopicRetention } from '@carillon/contracts';
import type { Instant, LogId } from '@carillon/kernel';

export type { RowRetention, TopicName, TopicRetention };

/** A record to append. Key and partition are always given: the key is a keyed hash, never a clear value. */
export type NewRecord = {
  readonly topic: TopicName;
  readonly partition: number;
  readonly key: string;
  readonly value: Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
};

export type LogRecord = NewRecord & {
  readonly offset: number;
  /** Append time, the same for all readers. */
  readonly time: Instant;
};

/** Header `kind` of a record whose content an erasure removed. Its position stays. */
export const ERASED = 'erased';

export const isErased = ({ headers }: Pick<LogRecord, 'headers'>): boolean => headers['kind'] === ERASED;

/** What one assignment of one partition does. Made anew for every assignment; what it holds in memory dies with it. */
export type PartitionWorker = {
  /** First offset wanted. Below the log's start, reading goes on at the start; beyond its end, `assigned` has to throw. */
  readonly from: number;
  /**
   * Called with at least one record, in order of offset, one call at a time. The next call comes after it resolved.
   * When it rejects, the assignment ends (`lost`) and a new one begins after a pause: at-least-once.
   * `end` tells where the partition ended when its consumer read last, at the soonest when it read these records; it asks nobody.
   */
  handle(records: readonly LogRecord[], end: () => number): Promise<void>;
  /** Called once when the assignment ends. Work under way must not be saved any more; the fence refuses what comes late. */
  lost(): Promise<void>;
};

export type ConsumeOptions = {
  /** Consumers of a group share the partitions of the topic; each partition has at most one worker in a group that is healthy. */
  readonly group: string;
  readonly topic: TopicName;
  readonly maxRecords: number;
  readonly maxBytes: number;
  assigned(partition: number): Promise<PartitionWorker>;
  /**
   * Told about each failure of `assigned` or `handle` before the pause. After an error that `stopsPartition` the
   * partition stands still for as long as this consumer has it: positions of another log mean other records, also once this one
   * has grown to them.
   * Partition -1: the consumer as a whole cannot work, as where brokers refuse its group; it keeps trying.
   */
  failed(partition: number, error: unknown): void;
  /** Told when a partition stands still; what it answers is called when this consumer no longer has the partition. */
  stopped?(partition: number): () => void;
};

/** A running consumer. */
export type Consumption = {
  /** Resolves when every handler has returned and every worker was told `lost`. Safe to call twice. */
  stop(): Promise<void>;
};

/**
 * The append-only log: topics of numbered partitions. Order holds within a partition only, and nothing ties the log to
 * a store: no transaction spans the two, except where both are one file: a move of a delivery
 * (`DeliveryLedger.replace`) and the position of a source (`SourceStore.advance`).
 */
export type EventLog = {
  /** Made with the topics; positions of another log id never compare. */
  readonly logId: LogId;
  /** Number of partitions of a topic; never changes in place. */
  partitions(topic: TopicName): number;
  /**
   * Resolves with the offsets, in the order given, once every record is durable. Records of one call and partition keep
   * their order. When it rejects (CarillonError `log_unavailable` or `overloaded`), each record may or may not be on the
   * log; appending it again is the caller's right, and then it may stand there twice. Two more codes, where they apply:
   * `body_too_large`, a record that no topic takes (nothing was appended), and `wrong_log`, the log is not the one that
   * was opened (the process has to end).
   */
  append(records: readonly NewRecord[]): Promise<readonly number[]>;
  /** Up to `maxRecords` records at or after `from`, at most about `maxBytes`, at least one if there is any. */
  read(
    topic: TopicName,
    partition: number,
    from: number,
    maxRecords: number,
    maxBytes?: number,
  ): Promise<readonly LogRecord[]>;
  /** `start`: the oldest offset still held; `end`: that of the next record. */
  bounds(topic: TopicName, partition: number): Promise<{ readonly start: number; readonly end: number }>;
  /**
   * Takes away the records before an offset, which then is the start; the offsets of the others stay. What is gone already stays gone.
   * Durable when it resolves; when it rejects, it may have happened.
   */
  cut(topic: TopicName, partition: number, before: number): Promise<void>;
  /** Starts consuming; resolves when the consumer has joined its group. */
  consume(options: ConsumeOptions): Promise<Consumption>;
};
