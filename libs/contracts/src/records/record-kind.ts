/** Facts about a topic of the log that brokers, stores and readers need. */
export type TopicKind = {
  readonly topic: `carillon.${string}`;
  /** The role that appends. */
  readonly owner: string;
  readonly description: string;
  /** Value whose hash is the record's key. */
  readonly key: string;
  /** 1: the topic is one sequence, so that a position is a number or a link of a chain. */
  readonly partitions: 1 | 8;
  /** `forever`, or days such as `30d`. */
  readonly retention: string;
  /** Retention in a data folder that a release made without a setting for it, if it differs from `retention`. */
  readonly embeddedRetention?: string;
};

/** One kind of derived record: its topic, its Avro schema, its writer and its reader. */
export type RecordKind<Record, Wire> = TopicKind & {
  /** Name of its files in `schemas/`. */
  readonly name: string;
  /** The Avro schema. A new field of a released record needs a `default`. */
  readonly schema: AvroRecord;
  write(record: Record): Wire;
  /** Throws InvalidRecord if the Avro is well-formed but means nothing. */
  read(wire: Wire): Record;
};

type AvroRecord = {
  readonly type: 'record';
  readonly name: string;
  readonly namespace: 'carillon';
  readonly doc: string;
  readonly fields: readonly {
    readonly name: string;
    readonly type: unknown;
    readonly default?: unknown;
    readonly doc?: string;
  }[];
};
