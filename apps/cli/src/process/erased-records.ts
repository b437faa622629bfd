import { CarillonError } from '@carillon/kernel';
import {
  erasedHeaders,
  integer,
  text,
  type Collection,
  type ConsumeOptions,
  type DocumentCollection,
  type Documents,
  type EventHistory,
  type EventLog,
  type FoundRecord,
  type LogRecord,
  type PartitionWorker,
  type TopicName,
} from '@carillon/ports';

/** A record of a log that cannot be changed, which readers get without what it holds of an erased person. */
type ErasedRecord = {
  readonly topic: TopicName;
  readonly partition: number;
  readonly offset: number;
  /** Value without the person, in base64. Null: the record is erased whole. */
  readonly left: string | null;
  /** Counts the writes. */
  readonly version: number;
};

const ERASED_RECORDS: Collection<ErasedRecord> = {
  name: 'erased_records',
  key: ['topic', 'partition', 'offset'],
  version: { field: 'version', kind: 'counter' },
  fields: {
    topic: text(({ topic }) => topic),
    partition: integer(({ partition }) => partition),
    offset: integer(({ offset }) => offset),
    left: text(({ left }) => left),
    version: integer(({ version }) => version),
  },
  indexes: { place: { by: ['topic', 'partition', 'offset'] } },
  body: null,
  read: (fields) => ({ ...(fields as unknown as ErasedRecord), left: (fields['left'] as string | undefined) ?? null }),
};

/** Number of the newest list. Readers ask for it alone, because the list seldom changes. */
type ListNumber = { readonly id: 'newest'; readonly version: number };
const LIST_NUMBER: Collection<ListNumber> = {
  name: 'erased_records_number',
  key: ['id'],
  version: { field: 'version', kind: 'counter' },
  fields: { id: text(({ id }) => id), version: integer(({ version }) => version) },
  body: null,
  read: (fields) => fields as unknown as ListNumber,
};

/** Collections of a backend whose log cannot be changed. */
export const ERASED_RECORD_COLLECTIONS = [ERASED_RECORDS, LIST_NUMBER];

/** How old a list may be while a process reads the log by it, in milliseconds. So long after a change no process shows what is on the new list. */
export const ERASED_RECORDS_FRESH_FOR = 2_000;

/** Readings of a list number before reading the log fails. A busy process may need a second one. */
const MAX_TRIES = 5;

const WRITES_AT_ONCE = 16;

/** Offsets of erased records by topic and partition. */
export type ErasedOffsets = Readonly<Partial<Record<TopicName, Readonly<Record<number, readonly number[]>>>>>;

/** A list of erased records. Its number changes with each change of the list. */
export type ErasedList = { readonly number: number; readonly offsets: ErasedOffsets };

/** The list of erased records as one process knows it. */
export type ErasedRecords = {
  /**
   * Returns records as readers may see them, by a list that was the newest at most `ERASED_RECORDS_FRESH_FOR` before. Rejects with CarillonError
   * `store_unavailable` if the store does not say so in that time, so that no reader sees an erased record meanwhile.
   */
  mask(records: readonly LogRecord[]): Promise<readonly LogRecord[]>;
  /** Number of the list by which this process last read the log. */
  number(): number;
  /**
   * Adds records to the next list. Durable when it resolves. Leaves a record that another erasure changed since it was read, so that the text
   * that the other removed does not come back. The next pass finds the rest.
   */
  add(topic: TopicName, partition: number, records: readonly FoundRecord[]): Promise<void>;
  /** Makes a new list of what was added before. This process reads the log by it when it resolves, and others at most `ERASED_RECORDS_FRESH_FOR` later. */
  publish(): Promise<void>;
  newest(): Promise<ErasedList>;
  /** Returns the number of the newest list, without reading the list. */
  newestNumber(): Promise<number>;
  /**
   * Removes records before the start of their partition, because retention has removed them from the log. The list keeps its number, so nobody reads it again for that.
   */
  removeBefore(start: (topic: TopicName, partition: number) => Promise<number>): Promise<void>;
};

/** `personal`: topics that can have erased records. Others are read without the list. */
export function createErasedRecords(documents: Documents, personal: readonly TopicName[]): ErasedRecords {
  const stored = documents.collection(ERASED_RECORDS);
  const numbers = documents.collection(LIST_NUMBER);
  const topics: ReadonlySet<TopicName> = new Set(personal);
  let list: { readonly number: number; readonly offsets: ReadonlyMap<string, ReadonlySet<number>> } = {
    number: -1,
    offsets: new Map(),
  };
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | null = null;

  const placeOf = (topic: string, partition: number): string => `${topic}/${partition}`;

  const newestNumber = async (): Promise<number> => (await numbers.get(['newest']))?.version ?? 0;

  /** Reads the list until its number is the newest one, however long reading the list takes. */
  async function read(): Promise<void> {
    for (;;) {
      const begunAt = performance.now();
      const number = await newestNumber();
      if (number === list.number) {
        readAt = begunAt;
        return;
      }
      const offsets = new Map<string, Set<number>>();
      for (const topic of topics) {
        for (const { partition, offset } of await stored.select({ topic }, ['partition', 'offset'])) {
          const place = placeOf(topic, Number(partition));
          offsets.set(place, (offsets.get(place) ?? new Set()).add(Number(offset)));
        }
      }
      list = { number, offsets };
    }
  }

  const isStale = (): boolean => performance.now() - readAt > ERASED_RECORDS_FRESH_FOR;

  function readOnce(): Promise<void> {
    reading ??= read().finally(() => (reading = null));
    return reading;
  }

  /** Reads what stands in the store when it is called. */
  async function readNewest(): Promise<void> {
    // Its failure reaches whoever asked for it.
    await reading?.catch(() => undefined);
    await readOnce();
  }

  async function masked(record: LogRecord): Promise<LogRecord> {
    const { topic, partition, offset } = record;
    if (list.offsets.get(placeOf(topic, partition))?.has(offset) !== true) return record;
    const entry = await stored.get([topic, partition, offset]);
    if (entry && entry.left !== null) return { ...record, value: new Uint8Array(Buffer.from(entry.left, 'base64')) };
    return { ...record, headers: erasedHeaders(record), value: new Uint8Array() };
  }

  return {
    async mask(records) {
      const [first] = records;
      if (!first || !topics.has(first.topic)) return records;
      for (let tries = 0; isStale(); tries += 1) {
        if (tries === MAX_TRIES) {
          throw new CarillonError(
            'store_unavailable',
            'reading the number of the list of erased records took over 2 s',
          );
        }
        await readOnce();
      }
      if (!list.offsets.has(placeOf(first.topic, first.partition))) return records;
      return Promise.all(records.map(masked));
    },
    number: () => list.number,
    async add(topic, partition, records) {
      for (let at = 0; at < records.length; at += WRITES_AT_ONCE) {
        const some = records.slice(at, at + WRITES_AT_ONCE);
        await Promise.all(some.map((record) => addOne(stored, topic, partition, record)));
      }
    },
    async publish() {
      await raiseNumber(numbers);
      await readNewest();
    },
    async newest() {
      await readNewest();
      const offsets: Partial<Record<TopicName, Record<number, readonly number[]>>> = {};
      for (const [place, erased] of list.offsets) {
        const [topic, partition] = place.split('/') as [TopicName, string];
        (offsets[topic] ??= {})[Number(partition)] = [...erased];
      }
      return { number: list.number, offsets };
    },
    newestNumber,
    async removeBefore(start) {
      for (const topic of topics) {
        const starts = new Map<number, number>();
        for (const fields of await stored.select({ topic }, ['partition', 'offset'])) {
          const [partition, offset] = [Number(fields['partition']), Number(fields['offset'])];
          const first = starts.get(partition) ?? (await start(topic, partition));
          starts.set(partition, first);
          if (offset < first) await stored.remove([topic, partition, offset]);
        }
      }
    },
  };
}

async function addOne(
  stored: DocumentCollection<ErasedRecord>,
  topic: TopicName,
  partition: number,
  { offset, value, found, isErased }: FoundRecord,
): Promise<void> {
  const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');
  const left = isErased ? null : base64(value);
  for (;;) {
    const before = await stored.get([topic, partition, offset]);
    if (before?.left === left) return;
    if (before && !isErased && before.left !== base64(found)) return;
    const next = { topic, partition, offset, left, version: (before?.version ?? 0) + 1 };
    if ((await stored.write(next, before?.version ?? null)) === 'done') return;
  }
}

async function raiseNumber(numbers: DocumentCollection<ListNumber>): Promise<void> {
  for (;;) {
    const before = await numbers.get(['newest']);
    const next: ListNumber = { id: 'newest', version: (before?.version ?? 0) + 1 };
    if ((await numbers.write(next, before?.version ?? null)) === 'done') return;
  }
}

/** Returns the log as its readers may see it: without what it holds of erased people. */
export const withErasedRecords = <Log extends EventLog>(
  log: Log,
  erased: Pick<ErasedRecords, 'mask' | 'number'>,
): Log => ({
  ...log,
  read: async (...asked) => erased.mask(await log.read(...asked)),
  consume: (options) => log.consume({ ...options, assigned: (partition) => startWorker(options, partition, erased) }),
});

/** Starts a worker, and with each new list another one in its place, because what a worker remembers may be of an erased person. */
async function startWorker(
  { assigned }: Pick<ConsumeOptions, 'assigned'>,
  partition: number,
  { mask, number }: Pick<ErasedRecords, 'mask' | 'number'>,
): Promise<PartitionWorker> {
  let begunBy = number();
  let worker = await assigned(partition);
  let isLost = false;

  /** Returns the records that the newest worker has not read. Rejects if it begins before them, so that the log begins it again at its place. */
  async function renew(records: readonly LogRecord[]): Promise<readonly LogRecord[]> {
    begunBy = number();
    await worker.lost();
    worker = await assigned(partition);
    if (isLost) await worker.lost();
    const first = records[0]?.offset ?? worker.from;
    if (worker.from < first) {
      throw new CarillonError(
        'wrong_state',
        `partition ${partition} is stored as read to ${worker.from}, before ${first}`,
      );
    }
    return records.filter(({ offset }) => offset >= worker.from);
  }

  return {
    from: worker.from,
    async handle(records, end) {
      const masked = await mask(records);
      const unread = number() === begunBy ? masked : await renew(masked);
      if (!isLost && unread.length > 0) await worker.handle(unread, end);
    },
    async lost() {
      isLost = true;
      await worker.lost();
    },
  };
}

/** Returns a history without what it holds of erased people, by the list with which a run began. */
export function withErasedOffsets<History extends Pick<EventHistory, 'read' | 'pages'>>(
  history: History,
  erased: ErasedOffsets,
): History {
  const sets = new Map<string, ReadonlySet<number>>();
  for (const [topic, partitions] of Object.entries(erased)) {
    for (const [partition, offsets] of Object.entries(partitions)) sets.set(`${topic}/${partition}`, new Set(offsets));
  }
  const masked = (records: readonly LogRecord[]): readonly LogRecord[] =>
    records.map((record) =>
      sets.get(`${record.topic}/${record.partition}`)?.has(record.offset) === true
        ? { ...record, headers: erasedHeaders(record), value: new Uint8Array() }
        : record,
    );
  return {
    ...history,
    read: async (...asked) => masked(await history.read(...asked)),
    async *pages(...asked) {
      for await (const page of history.pages(...asked)) yield { ...page, records: masked(page.records) };
    },
  };
}
