import { CarillonError, type LogId } from '@carillon/kernel';
import type { EventLog, LogRecord, TopicName } from '@carillon/ports';
import type { Reader } from '../reader.ts';
import { offsetOf, placeOf, type PartitionRow } from './places.ts';

const READ_BYTES = 4 * 1024 * 1024;

type RecordRow = readonly [place: number, time: number, key: string, headers: string, value: Uint8Array];

/** The log as its readers see it. Each call is one short statement, so that it holds no old state of the file. */
export type LogReading = {
  readonly logId: LogId;
  readonly partitions: (topic: TopicName) => number;
  readonly read: (
    topic: TopicName,
    partition: number,
    from: number,
    maxRecords: number,
    maxBytes?: number,
  ) => LogRecord[];
  readonly bounds: (topic: TopicName, partition: number) => Awaited<ReturnType<EventLog['bounds']>>;
  /** Number of a partition within the file. Throws RangeError for a partition that the topic does not have. */
  readonly idOf: (topic: TopicName, partition: number) => number;
  /** Numbers of the partitions of a topic. */
  readonly idsOf: (topic: TopicName) => readonly number[];
};

/** Reads the log of a data file. Throws CarillonError `data_version` if the file holds none. */
export function createLogReading(reader: Reader): LogReading {
  const logId = (reader.get('SELECT log_id FROM log_identity') as { log_id: string } | undefined)?.log_id;
  if (!logId) throw new CarillonError('data_version', 'the data file has no log id; restore a backup');
  const ids = new Map<TopicName, readonly number[]>();
  for (const row of reader.all('SELECT * FROM partitions ORDER BY topic, partition') as PartitionRow[]) {
    const topic = row.topic as TopicName;
    ids.set(topic, [...(ids.get(topic) ?? []), row.id]);
  }

  const idOf = (topic: TopicName, partition: number): number => {
    const id = ids.get(topic)?.[partition];
    if (id === undefined) throw new RangeError(`the log has no partition ${partition} of ${topic}`);
    return id;
  };

  function read(
    topic: TopicName,
    partition: number,
    from: number,
    maxRecords: number,
    maxBytes = READ_BYTES,
  ): LogRecord[] {
    const id = idOf(topic, partition);
    const records: LogRecord[] = [];
    let bytes = 0;
    reader.visit(
      'SELECT place, time, key, headers, value FROM records WHERE place >= ? AND place < ? ORDER BY place LIMIT ?',
      [placeOf(id, Math.max(0, from)), placeOf(id + 1, 0), maxRecords],
      (row) => {
        const [place, time, key, headers, value] = row as RecordRow;
        bytes += value.length + headers.length + key.length;
        if (records.length > 0 && bytes > maxBytes) return false;
        records.push({
          topic,
          partition,
          key,
          value,
          headers: JSON.parse(headers) as Record<string, string>,
          offset: offsetOf(id, place),
          time,
        });
        return true;
      },
    );
    return records;
  }

  return {
    logId: logId as LogId,
    partitions: (topic) => ids.get(topic)?.length ?? 0,
    read,
    bounds(topic, partition) {
      const row = reader.get('SELECT * FROM partitions WHERE id = ?', idOf(topic, partition)) as
        | PartitionRow
        | undefined;
      return { start: row?.start ?? 0, end: row?.next ?? 0 };
    },
    idOf,
    idsOf: (topic) => ids.get(topic) ?? [],
  };
}
