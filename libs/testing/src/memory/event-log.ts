import { SINGLE_SEQUENCES, TOPICS } from '@carillon/contracts';
import type { Instant, LogId } from '@carillon/kernel';
import type { EventLog, LogRecord, NewRecord, TopicName } from '@carillon/ports';
import { createConsumerGroups } from './consumer-groups.ts';
import type { Wire } from './wire.ts';

export type MemoryLogOptions = {
  readonly logId: LogId;
  /** How many each topic has, but for those that are one sequence. */
  readonly partitions: number;
  readonly now: () => Instant;
  /** How many records one hand-over to a consumer has at most, asked anew for each. */
  readonly handedOver?: () => number;
};

const sizeOf = ({ value, key }: LogRecord): number => value.length + key.length;

/** A log that lives as long as it is held: what the port asks for, over wires that are as good or bad as their maker wants. */
export function createMemoryLog({ logId, partitions: count, now, handedOver }: MemoryLogOptions) {
  const partitions = (topic: TopicName): number => (SINGLE_SEQUENCES.has(topic) ? 1 : count);
  const topics = new Map(
    TOPICS.map((topic) => [topic, Array.from({ length: partitions(topic) }, (): LogRecord[] => [])] as const),
  );
  /** Where a partition begins, once its oldest records are gone. */
  const starts = new Map<LogRecord[], number>();
  const waiting = new Map<string, (() => void)[]>();

  function placeOf(topic: TopicName, partition: number): LogRecord[] {
    const place = topics.get(topic)?.[partition];
    if (!place) throw new RangeError(`the log has no partition ${partition} of ${topic}`);
    return place;
  }

  function append(records: readonly NewRecord[]): readonly number[] {
    for (const { topic, partition } of records) placeOf(topic, partition);
    const time = now();
    const offsets = records.map((record) => {
      const place = placeOf(record.topic, record.partition);
      place.push({ ...record, offset: place.length, time });
      return place.length - 1;
    });
    for (const { topic, partition } of records) {
      const name = `${topic}/${partition}`;
      const told = waiting.get(name) ?? [];
      waiting.delete(name);
      for (const arrived of told) arrived();
    }
    return offsets;
  }

  function read(
    topic: TopicName,
    partition: number,
    from: number,
    maxRecords: number,
    maxBytes = 4 * 1024 * 1024,
  ): readonly LogRecord[] {
    const place = placeOf(topic, partition);
    const first = Math.max(starts.get(place) ?? 0, from);
    const found = place.slice(first, first + maxRecords);
    let bytes = 0;
    const end = found.findIndex((record, at) => (bytes += sizeOf(record)) > maxBytes && at > 0);
    return end < 0 ? found : found.slice(0, end);
  }

  const bounds = (topic: TopicName, partition: number): { start: number; end: number } => ({
    start: starts.get(placeOf(topic, partition)) ?? 0,
    end: placeOf(topic, partition).length,
  });

  /** Removes what was appended before, as retention does. */
  function trim(topic: TopicName, before: Instant): void {
    for (const place of topics.get(topic) ?? []) {
      const kept = place.findIndex(({ time }) => time >= before);
      starts.set(place, kept < 0 ? place.length : kept);
    }
  }

  function cut(topic: TopicName, partition: number, before: number): void {
    const place = placeOf(topic, partition);
    starts.set(place, Math.min(place.length, Math.max(starts.get(place) ?? 0, before)));
  }

  const groups = createConsumerGroups({
    partitions,
    bounds,
    read: (topic, partition, from, records, bytes) =>
      read(topic, partition, from, Math.min(records, handedOver?.() ?? records), bytes),
    await(topic, partition, arrived) {
      const name = `${topic}/${partition}`;
      waiting.set(name, [...(waiting.get(name) ?? []), arrived]);
    },
  });

  /** Everything but what is in `records` as the caller goes on to use it. */
  const copy = (records: readonly NewRecord[]): readonly NewRecord[] =>
    records.map((record) => ({ ...record, value: Uint8Array.from(record.value), headers: { ...record.headers } }));

  return {
    logId,
    partitions,
    bounds,
    groups,
    trim,
    /**
     * Appends records without a simulated connection. Memory stores that share a commit with the log use this function.
     */
    append,
    /** All records of a topic, partition by partition. */
    all: (topic: TopicName): readonly LogRecord[] => topics.get(topic)?.flat() ?? [],
    /** The log as a process sees it. */
    connect: (wire: Wire): EventLog => ({
      logId,
      partitions,
      async append(records) {
        if (records.length === 0) return [];
        const copied = copy(records);
        return wire.ask('log.append', () => append(copied), {
          writes: true,
          about: () => aboutOf(copied),
          partly: (chance) => void append(copied.filter(() => chance() < 0.5)),
        });
      },
      read: (topic, partition, from, maxRecords, maxBytes) =>
        wire.ask('log.read', () => read(topic, partition, from, maxRecords, maxBytes), {
          about: () => `${topic}/${partition}@${from}`,
        }),
      bounds: (topic, partition) => wire.ask('log.bounds', () => bounds(topic, partition)),
      cut: (topic, partition, before) => wire.ask('log.cut', () => cut(topic, partition, before), { writes: true }),
      consume: (options) => groups.join(wire, options),
    }),
  };
}
export type MemoryLog = ReturnType<typeof createMemoryLog>;

function aboutOf(records: readonly NewRecord[]): string {
  const nameOf = ({ topic, headers }: NewRecord): string =>
    headers['kind'] === 'tick' ? 'ticks' : topic.replace('carillon.', '');
  const counts = Map.groupBy(records, (record) => `${nameOf(record)}/${record.partition}`);
  return [...counts].map(([place, own]) => `${own.length} to ${place}`).join(', ');
}
