import type { Instant } from '@carillon/kernel';

/** The `lsn` of a position whose slot is not made yet. */
export const NOWHERE = '0/0';

/** How far a PostgreSQL source is on the log. */
export type PostgresPosition = {
  readonly kind: 'postgres';
  /** Identifier of the database cluster. */
  readonly systemId: string;
  readonly timeline: number;
  readonly slot: string;
  readonly publication: string;
  /** Object id of the publication. A new publication of the same name has another. 0 until it is made. */
  readonly publicationOid: number;
  /** End of the last transaction that is on the log whole. Written as `0/1948580`. `0/0` until the slot is made. */
  readonly lsn: string;
  /**
   * Progress within the transaction after `lsn`, if only a part of its changes is on the log. Null if none of them is.
   */
  readonly partial: { readonly commitLsn: string; readonly changes: number } | null;
  /** Commit time of the newest change on the log, or when the position was made. Everything up to then was read. */
  readonly at: Instant;
};

/** How far one topic is on the log. */
export type TopicPosition = {
  /** Kafka's id of the topic. A topic that was deleted and made again has another. Null while there is no such topic. */
  readonly id: string | null;
  /** Offset of the next record, by number of the partition. A partition that is missing is read from its beginning. */
  readonly partitions: Readonly<Record<string, number>>;
};

/** How far a Kafka source is on the log. */
export type KafkaPosition = {
  readonly kind: 'kafka';
  readonly clusterId: string;
  /** By name. */
  readonly topics: Readonly<Record<string, TopicPosition>>;
  /** Time of the newest record on the log, or when the position was made at the end. 0: it was made at the oldest records. */
  readonly at: Instant;
};

export type SourcePosition = PostgresPosition | KafkaPosition;

/** Returns the time of the newest change on the log. Null if nothing was read since a reset to the oldest records. */
export const readUntil = (position: Pick<SourcePosition, 'at'> | null): Instant | null =>
  position === null || position.at === 0 ? null : position.at;

/** Returns the position if it is one in a database, else null. */
export const postgresPosition = (position: SourcePosition | null): PostgresPosition | null =>
  position !== null && 'slot' in position ? position : null;

/** Returns the position if it is one in a Kafka cluster, else null. */
export const kafkaPosition = (position: SourcePosition | null): KafkaPosition | null =>
  position !== null && 'clusterId' in position ? position : null;

/** Kind of a source, which is the kind of its integration. */
export type SourceKind = SourcePosition['kind'];

/** Where a reset of a Kafka source continues: at the oldest record that the topics still have, or at their end. */
export type TopicStart = 'oldest' | 'end';
