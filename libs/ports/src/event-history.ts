import type { EventLog, LogRecord, TopicName } from './event-log.ts';
import type { SchemaRegistry } from './schema-registry.ts';

/** Part of a partition. `end` is the offset behind the last record. */
export type OffsetRange = {
  readonly topic: TopicName;
  readonly partition: number;
  readonly from: number;
  readonly end: number;
};

/** Neighbouring records of an offset range, in the order of their offsets. */
export type HistoryPage = {
  /** Empty if all records before `next` are gone. */
  readonly records: readonly LogRecord[];
  /** Offset at which the next page begins. */
  readonly next: number;
  /** Number of records before `next` that retention has removed. */
  readonly removed: number;
};

/** The log as a run reads it, from another process than those that write it. Reading leaves no trace on the log: there is no consumer group. */
export type EventHistory = Pick<EventLog, 'logId' | 'partitions' | 'read' | 'bounds'> & {
  /**
   * Reads an offset range in pages of at most `maxRecords` records; the last page ends at `end`. Rejects with CarillonError `wrong_log`
   * if the log is no longer the one that was opened, and with `log_unavailable`.
   */
  pages(range: OffsetRange, maxRecords: number): AsyncIterable<HistoryPage>;
  /** Finds schemas that the product registered, and refuses to register others. */
  readonly registry: SchemaRegistry;
  readonly close: () => void;
};
