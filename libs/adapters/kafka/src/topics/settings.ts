import { ALWAYS_KEPT_TOPICS, type TopicRetention } from '@carillon/contracts';
import type { Duration } from '@carillon/kernel';
import type { TopicName } from '@carillon/ports';
import { MAX_MESSAGE_BYTES } from '../producing/appender.ts';

/** Settings of a topic in `schemas/topics` that brokers need. */
export type TopicDefinition = { readonly partitions: number; readonly retention: string };
export type TopicDefinitions = Readonly<Record<TopicName, TopicDefinition>>;

export type TopicOptions = {
  /** One broker is enough: no copies. `doctor` reports it, because a lost disk loses the log. */
  readonly singleBroker?: boolean;
  /** Retention of topics that the configuration names. Null: forever. */
  readonly retention?: Partial<TopicRetention>;
};

/** A setting of a topic: what it is made with, and which values are as safe. */
export type Setting = {
  readonly name: string;
  readonly wanted: string;
  readonly accepts: (found: string) => boolean;
  /** Whether `adjustTopics` changes this value in place. A start refuses any other. */
  readonly isAdjustable: (found: string) => boolean;
};

export const REPLICATION = 3;
const MIN_IN_SYNC = 2;
const DAY = 86_400_000;

/** Days as milliseconds; null is forever. */
export function keptFor(retention: string): Duration | null {
  if (retention === 'forever') return null;
  const days = /^(\d+)d$/.exec(retention)?.[1];
  if (days === undefined) throw new RangeError(`retention "${retention}" is neither forever nor days such as 30d`);
  return Number(days) * DAY;
}

/** Kafka's word for ever. */
const FOREVER = '-1';

export function settingsOf(topic: TopicName, definition: TopicDefinition, options: TopicOptions): readonly Setting[] {
  const minInSync = options.singleBroker ? 1 : MIN_IN_SYNC;
  const fixed = { isAdjustable: () => false };
  const exactly = (name: string, wanted: string): Setting => ({
    name,
    wanted,
    accepts: (found) => found === wanted,
    ...fixed,
  });
  const atLeast = (name: string, wanted: number): Setting => ({
    name,
    wanted: String(wanted),
    accepts: (found) => Number(found) >= wanted,
    ...fixed,
  });
  return [
    exactly('cleanup.policy', 'delete'),
    ...retentionSettings(topic, definition, options),
    exactly('retention.bytes', '-1'),
    atLeast('min.insync.replicas', minInSync),
    exactly('unclean.leader.election.enable', 'false'),
    atLeast('max.message.bytes', MAX_MESSAGE_BYTES),
    exactly('message.timestamp.type', 'LogAppendTime'),
    // Brokers decompress what others compress with means that kafkajs cannot read.
    {
      name: 'compression.type',
      wanted: 'uncompressed',
      accepts: (found) => ['uncompressed', 'gzip'].includes(found),
      ...fixed,
    },
  ];
}

/**
 * Returns retention settings with segments of one day. Kafka removes whole segments, and with its default of seven days
 * records would stay up to a week longer. Topics that are kept forever need no daily segments.
 */
function retentionSettings(
  topic: TopicName,
  { retention }: TopicDefinition,
  options: TopicOptions,
): readonly Setting[] {
  const byDefault = keptFor(retention);
  const named = options.retention?.[topic];
  const kept = named === undefined ? byDefault : named;
  const wanted = kept === null ? FOREVER : String(kept);
  return [
    {
      name: 'retention.ms',
      wanted,
      accepts: (found) =>
        found === wanted || (named === undefined && (found === FOREVER || (kept !== null && Number(found) >= kept))),
      isAdjustable: (found) => byDefault !== null && (found === FOREVER || Number(found) >= DAY),
    },
    ...(ALWAYS_KEPT_TOPICS.has(topic)
      ? []
      : [
          {
            name: 'segment.ms',
            wanted: String(DAY),
            accepts: (found: string) => Number(found) <= DAY,
            isAdjustable: () => true,
          },
        ]),
  ];
}
