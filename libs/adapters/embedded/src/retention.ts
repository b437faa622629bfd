import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  DEFAULT_TOPIC_RETENTION,
  EARLIER_FOLDER_RETENTION,
  perTopic,
  rowRetentionOf,
  TOPICS,
  type TopicRetention,
} from '@carillon/contracts';
import { MAX_DEAD_LETTER_BYTES } from '@carillon/domain/events';
import { durationOr, type Instant } from '@carillon/kernel';
import type { EmbeddedLog, KeptRecords } from './log/event-log.ts';
import { PLACES_PER_PARTITION } from './log/places.ts';
import type { Reader } from './reader.ts';
import type { RetentionWrites } from './retention-writes.ts';
import type { Write } from './writing/protocol.ts';

const ROW_BATCH_SIZE = 1000;

/** What retention goes by in a data folder. */
export type RetentionPolicy = {
  readonly topics: TopicRetention;
  /** Returns the first offset of a partition that a consumer has not read. Left out: all records have been read. */
  readonly unreadFrom?: KeptRecords['unreadFrom'];
};

/**
 * Returns the retention of each topic that `carillon.yaml` does not name: what was the default when the folder got the topic. Folders
 * of releases that noted none keep outcomes, receipts and dead letters forever.
 */
export function readDefaultRetention(reader: Reader): TopicRetention {
  const isNoted = reader.get("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'topic_retention'");
  const rows = isNoted ? reader.all('SELECT topic, retention FROM topic_retention') : [];
  const noted = new Map(rows.map(({ topic, retention }) => [topic, retention]));
  return perTopic(({ topic }) => {
    const retention = noted.get(topic);
    if (typeof retention !== 'string') return EARLIER_FOLDER_RETENTION[topic as keyof TopicRetention];
    return retention === 'forever' ? null : durationOr(retention, Number.POSITIVE_INFINITY);
  });
}

/** Topics that the folder keeps longer than a new one, because an earlier release made it. */
export const keptLonger = (defaults: TopicRetention): readonly (keyof TopicRetention)[] =>
  TOPICS.filter((topic) => defaults[topic] === null && DEFAULT_TOPIC_RETENTION[topic] !== null);

export type Removed = { readonly records: number; readonly rows: number };

/** Removes records and rows that are older than their retention, in small writes, so that other writes get in between. Keeps open dead letters. */
export async function applyRetention(
  log: Pick<EmbeddedLog, 'trim'>,
  reader: Reader,
  write: Write<RetentionWrites>,
  now: Instant,
  { topics, unreadFrom = () => Number.POSITIVE_INFINITY }: RetentionPolicy,
): Promise<Removed> {
  const kept = await openDeadLetters(reader);
  let records = 0;
  for (const topic of TOPICS) {
    const duration = topics[topic];
    if (duration !== null) records += await log.trim(topic, now - duration, { unreadFrom, kept });
  }
  const rowTimes = rowRetentionOf(topics);
  let rows = 0;
  const tables = [
    ['retention.events', rowTimes.events],
    ['retention.duplicates', rowTimes.events],
    ['retention.evaluations', rowTimes.evaluations],
    ['retention.fields', rowTimes.events],
    // An expired lease has no holder.
    ['retention.leases', 0],
    ['retention.leftCohorts', rowTimes.leftCohorts],
    ['retention.tasks', rowTimes.tasks],
    ['retention.claims', rowTimes.claims],
  ] as const;
  for (const [name, duration] of tables) {
    let last = duration === null ? 0 : ROW_BATCH_SIZE;
    while (duration !== null && last === ROW_BATCH_SIZE) {
      last = await write(name, { bytes: 64, rows: ROW_BATCH_SIZE }, now - duration, ROW_BATCH_SIZE);
      rows += last;
    }
  }
  return { records, rows };
}

/**
 * Returns the offsets of open dead letters by topic and partition, and of the records that letters only point at because they are too
 * large to be held twice. Reads a page of letters at a time, so that requests are answered in between.
 */
export async function openDeadLetters(reader: Pick<Reader, 'all'>): Promise<KeptRecords['kept']> {
  const offsets = new Map<string, number[]>();
  const keep = (topic: unknown, partition: unknown, offset: unknown): void => {
    const key = `${String(topic)} ${String(partition)}`;
    const known = offsets.get(key);
    if (known) known.push(Number(offset));
    else offsets.set(key, [Number(offset)]);
  };
  const page = 'SELECT id, own_partition, own_offset, redriven_at, dismissed_at FROM dead_letter_rows';
  let after = '';
  for (let rows = LETTER_PAGE; rows === LETTER_PAGE; await nextTurn()) {
    const letters = reader.all(`${page} WHERE id > ? ORDER BY id LIMIT ?`, after, LETTER_PAGE);
    const open = letters.filter((letter) => letter['redriven_at'] === null && letter['dismissed_at'] === null);
    for (const letter of open) keep('carillon.dead-letters', letter['own_partition'], letter['own_offset']);
    const ids = JSON.stringify(open.map(({ id }) => id));
    for (const record of reader.all(POINTED, ids, MAX_DEAD_LETTER_BYTES)) {
      keep(record['topic'], record['partition'], record['record_offset']);
    }
    rows = letters.length;
    after = String(letters.at(-1)?.['id']);
  }
  return (topic, partition) => offsets.get(`${topic} ${partition}`) ?? [];
}

const LETTER_PAGE = 500;
/** Records that some letters only point at. */
const POINTED = `
  SELECT letter.topic, letter.partition, letter.record_offset
  FROM dead_letter_rows AS letter
  JOIN partitions ON partitions.topic = letter.topic AND partitions.partition = letter.partition
  JOIN records ON records.place = partitions.id * ${PLACES_PER_PARTITION} + letter.record_offset
  WHERE letter.id IN (SELECT value FROM json_each(?))
    AND length(records.value) + 4 * (length(records.key) + length(records.headers)) > ?`;
