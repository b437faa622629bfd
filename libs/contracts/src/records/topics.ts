import { LOG_RECORDS, type LogRecordKind } from './log-records.ts';
import type { TopicKind } from './record-kind.ts';
import { sourceEvents } from './source-events.ts';

export type TopicName = typeof sourceEvents.topic | (typeof LOG_RECORDS)[LogRecordKind]['topic'];

/** A topic as `schemas/topics` publishes it. */
export type TopicDefinition = Omit<TopicKind, 'topic' | 'embeddedRetention'> & {
  /** Content of a value: a file of `schemas/`, or `source bytes`. */
  readonly value: string;
  /** The topic for records that cannot be read. */
  readonly dead_letter: string | null;
};

const KINDS: readonly (TopicKind & { readonly topic: TopicName })[] = [sourceEvents, ...Object.values(LOG_RECORDS)];

export const TOPICS: readonly TopicName[] = KINDS.map(({ topic }) => topic);

/** Topics whose records may hold something of the people who are notified. */
export const PERSONAL_TOPICS: readonly TopicName[] = TOPICS.filter(
  (topic) => topic !== LOG_RECORDS.configuration.topic && topic !== LOG_RECORDS.audit.topic,
);

/** Returns one value per topic, in the order of `TOPICS`. */
export function perTopic<Value>(valueOf: (kind: TopicKind) => Value): Readonly<Record<TopicName, Value>> {
  return Object.fromEntries(KINDS.map((kind) => [kind.topic, valueOf(kind)])) as Record<TopicName, Value>;
}

export const TOPIC_DEFINITIONS = perTopic(definitionOf);

/** Topics that are one sequence of records: a position there is a number, or a link of a chain. */
export const SINGLE_SEQUENCES: ReadonlySet<TopicName> = new Set(
  KINDS.filter(({ partitions }) => partitions === 1).map(({ topic }) => topic),
);

function definitionOf(kind: TopicKind): TopicDefinition {
  const { owner, description, key, partitions, retention } = kind;
  const value = 'name' in kind ? `records/${String(kind.name)}.avsc` : 'source bytes';
  const dead_letter = kind.topic === LOG_RECORDS.deadLetter.topic ? null : LOG_RECORDS.deadLetter.topic;
  return { owner, description, key, value, partitions, retention, dead_letter };
}
