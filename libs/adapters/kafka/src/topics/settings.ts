import type { TopicName } from '@carillon/ports';
import { MAX_MESSAGE_BYTES } from '../producing/appender.ts';

/** What `schemas/topics` says about a topic, as far as brokers have to know it. */
export type TopicDefinition = { readonly partitions: number; readonly retention: string };
export type TopicDefinitions = Readonly<Record<TopicName, TopicDefinition>>;

export type TopicOptions = {
  /** One broker is enough: no copies. `doctor` reports it, because a lost disk loses the log. */
  readonly singleBroker?: boolean;
  /** Instead of what the definition says: `forever`, or a number of days as `30d`. */
  readonly retention?: Partial<Readonly<Record<TopicName, string>>>;
};

/** A setting of a topic: what it is made with, and which values are as safe. */
export type Setting = {
  readonly name: string;
  readonly wanted: string;
  readonly accepts: (found: string) => boolean;
};

export const REPLICATION = 3;
const MIN_IN_SYNC = 2;

/** Days as milliseconds; -1, Kafka's word for ever. */
export function retentionMs(retention: string): number {
  if (retention === 'forever') return -1;
  const days = /^(\d+)d$/.exec(retention)?.[1];
  if (days === undefined) throw new RangeError(`retention "${retention}" is neither forever nor days such as 30d`);
  return Number(days) * 86_400_000;
}

export function settingsOf(topic: TopicName, definition: TopicDefinition, options: TopicOptions): readonly Setting[] {
  const retention = retentionMs(options.retention?.[topic] ?? definition.retention);
  const minInSync = options.singleBroker ? 1 : MIN_IN_SYNC;
  const exactly = (name: string, wanted: string): Setting => ({ name, wanted, accepts: (found) => found === wanted });
  const atLeast = (name: string, wanted: number): Setting => ({
    name,
    wanted: String(wanted),
    accepts: (found) => Number(found) >= wanted,
  });
  return [
    exactly('cleanup.policy', 'delete'),
    {
      name: 'retention.ms',
      wanted: String(retention),
      accepts: (found) => found === '-1' || (retention >= 0 && Number(found) >= retention),
    },
    exactly('retention.bytes', '-1'),
    atLeast('min.insync.replicas', minInSync),
    exactly('unclean.leader.election.enable', 'false'),
    atLeast('max.message.bytes', MAX_MESSAGE_BYTES),
    exactly('message.timestamp.type', 'LogAppendTime'),
    // Brokers decompress what others compress with means that kafkajs cannot read.
    { name: 'compression.type', wanted: 'uncompressed', accepts: (found) => ['uncompressed', 'gzip'].includes(found) },
  ];
}
