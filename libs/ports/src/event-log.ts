import type { RowRetention, TopicName, TopicRetention } from '@carillon/contracts';
import type { Instant, LogId } from '@carillon/kernel';

export type { RowRetention, TopicName, TopicRetention };

/** A record to append. The key is a keyed hash, never clear text. */
export type NewRecord = {
  readonly topic: TopicName;
  readonly partition: number;
  readonly key: string;
  readonly value: Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
};

export type LogRecord = NewRecord & {
  readonly offset: number;
  /** Append time. All readers see the same value. */
  readonly time: Instant;
};

/** Header `kind` of a record whose content an erasure removed. Its position stays. */
export const ERASED = 'erased';

export const isErased = ({ headers }: Pick<LogRecord, 'headers'>): boolean => headers['kind'] === ERASED;

/**
 * Returns the headers of an erased record. Those of an event keep its stream, so that runs can count it, and its id, so that texts about it
 * can be found.
 */
export function erasedHeaders({ headers }: Pick<LogRecord, 'headers'>): LogRecord['headers'] {
  const { workspace, stream, event_id: id } = headers;
  return { kind: ERASED, ...(workspace && { workspace }), ...(stream && { stream }), ...(id && { event_id: id }) };
}

/**
 * Handles one assignment of one partition. A new worker is created per assignment, so its memory ends with the
 * assignment.
 */
export type PartitionWorker = {
  /**
   * First offset to read. If the log starts later, reading begins at its start. If the log ends earlier, `assigned`
   * must throw.
   */
  readonly from: number;
  /**
   * Called with at least one record, in offset order. The next call follows after this one resolves. If it rejects, the
   * assignment ends (`lost`) and a new one begins after a pause, so delivery is at least once. `end` returns the end of
   * the partition as of the consumer's last read, which is never older than these records. It makes no request.
   */
  handle(records: readonly LogRecord[], end: () => number): Promise<void>;
  /**
   * Called once when the assignment ends. Unfinished work must not be saved after that; the fence refuses late writes.
   */
  lost(): Promise<void>;
};

export type ConsumeOptions = {
  /** Consumers of a group share the partitions of a topic. In a healthy group each partition has at most one worker. */
  readonly group: string;
  readonly topic: TopicName;
  readonly maxRecords: number;
  readonly maxBytes: number;
  assigned(partition: number): Promise<PartitionWorker>;
  /**
   * Called for each failure of `assigned` or `handle`, before the pause. After an error with `stopsPartition`, this
   * consumer does not process the partition again: positions of another log refer to other records, even after that log
   * has grown. Partition -1 means that the whole consumer fails, for example because brokers refuse its group; it keeps
   * retrying.
   */
  failed(partition: number, error: unknown): void;
  /** Called when a partition stops. The returned function is called when this consumer gives the partition up. */
  stopped?(partition: number): () => void;
};

/** A running consumer. */
export type Consumption = {
  /** Resolves after every handler has returned and every worker's `lost` has run. May be called twice. */
  stop(): Promise<void>;
};

/**
 * The append-only log: topics with numbered partitions. Order holds only within a partition. No transaction spans the
 * log and a store, except if both are one file: for a delivery's move (`DeliveryLedger.replace`) and a source's
 * position (`SourceStore.advance`).
 */
export type EventLog = {
  /** Id of this log, created with the topics. Positions with different log ids cannot be compared. */
  readonly logId: LogId;
  /** Number of partitions of a topic. It never changes. */
  partitions(topic: TopicName): number;
  /**
   * Resolves to the offsets, in the given order, once every record is durable. Records of a call and partition keep
   * their order. If it rejects with `log_unavailable` or `overloaded`, each record may or may not be stored. The caller
   * may append them again, which can store a record twice. Other codes: `body_too_large` (no topic accepts the record;
   * nothing was appended) and `wrong_log` (the log was replaced since it was opened; the process must exit).
   */
  append(records: readonly NewRecord[]): Promise<readonly number[]>;
  /**
   * Reads up to `maxRecords` records from offset `from` on, at most about `maxBytes`, but at least one record if any
   * exists.
   */
  read(
    topic: TopicName,
    partition: number,
    from: number,
    maxRecords: number,
    maxBytes?: number,
  ): Promise<readonly LogRecord[]>;
  /** `start` is the oldest stored offset, `end` the offset of the next record. */
  bounds(topic: TopicName, partition: number): Promise<{ readonly start: number; readonly end: number }>;
  /**
   * Deletes the records before an offset, which becomes the start. Other offsets stay. Idempotent. Durable when it
   * resolves; if it rejects, the cut may have happened.
   */
  cut(topic: TopicName, partition: number, before: number): Promise<void>;
  /** Starts consuming; resolves when the consumer has joined its group. */
  consume(options: ConsumeOptions): Promise<Consumption>;
};
