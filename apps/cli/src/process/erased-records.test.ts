import type {
  ConsumeOptions,
  EventHistory,
  EventLog,
  FoundRecord,
  HistoryPage,
  LogRecord,
  PartitionWorker,
} from '@carillon/ports';
import { createDirectWire, createMemoryDocuments } from '@carillon/testing/memory';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { createErasedRecords, withErasedOffsets, withErasedRecords, type ErasedRecords } from './erased-records.ts';

const TOPIC = 'carillon.events';
const text = (words: string): Uint8Array => new TextEncoder().encode(words);

const recordAt = (offset: number, more: Partial<LogRecord> = {}): LogRecord => ({
  topic: TOPIC,
  partition: 0,
  offset,
  key: 'k',
  value: text(`of ada ${offset}`),
  headers: { kind: 'event', workspace: 'shop', stream: 'shop/orders', event_id: 'evt_1' },
  time: 1,
  ...more,
});
const erasedAt = (offset: number): FoundRecord => ({
  offset,
  headers: {},
  value: new Uint8Array(),
  isErased: true,
  found: text(`of ada ${offset}`),
});
const leftAt = (offset: number, left: string, found: string): FoundRecord => ({
  offset,
  headers: {},
  value: text(left),
  isErased: false,
  found: text(found),
});
const ERASED = {
  headers: { kind: 'erased', workspace: 'shop', stream: 'shop/orders', event_id: 'evt_1' },
  value: new Uint8Array(),
};

type Started = { readonly seen: LogRecord[]; lost: number };

/** Consumes by a list with workers that begin at these offsets. `first` is the worker that the log has. */
async function consuming(
  list: ErasedRecords,
  begin: readonly number[],
): Promise<{ readonly first: PartitionWorker; readonly starts: readonly Started[] }> {
  const starts: Started[] = [];
  const assigned = async (): Promise<PartitionWorker> => {
    const started: Started = { seen: [], lost: 0 };
    const from = begin[starts.push(started) - 1] ?? 0;
    return {
      from,
      handle: async (records) => void started.seen.push(...records),
      lost: async () => void (started.lost += 1),
    };
  };
  let options: Pick<ConsumeOptions, 'assigned'> = { assigned };
  const consume: EventLog['consume'] = async (given) => {
    options = given;
    return { stop: async () => undefined };
  };
  await withErasedRecords({ consume } as unknown as EventLog, list).consume(options as ConsumeOptions);
  return { first: await options.assigned(0), starts };
}

let memory: ReturnType<typeof createMemoryDocuments>;
let mine: ErasedRecords;
let others: ErasedRecords;
const open = (): ErasedRecords => createErasedRecords(memory.connect(createDirectWire()), [TOPIC, 'carillon.outcomes']);
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
  memory = createMemoryDocuments();
  [mine, others] = [open(), open()];
  return () => vi.useRealTimers();
});

describe('The list of erased records', () => {
  it('hides a published record in its own process at once, and in another after two seconds', async () => {
    const records = [recordAt(4), recordAt(5)];
    expect(await others.mask(records)).toEqual(records);
    await mine.add(TOPIC, 0, [erasedAt(5)]);
    await mine.publish();
    expect(await mine.mask(records)).toEqual([recordAt(4), { ...recordAt(5), ...ERASED }]);
    vi.advanceTimersByTime(2_001);
    expect(await others.mask(records)).toEqual([recordAt(4), { ...recordAt(5), ...ERASED }]);
  });

  it('is read by a process that starts later', async () => {
    await mine.add(TOPIC, 0, [erasedAt(5)]);
    await mine.publish();
    expect(await open().mask([recordAt(5)])).toEqual([{ ...recordAt(5), ...ERASED }]);
  });

  it('publishes records added by a killed process once the erasure adds them again', async () => {
    await mine.add(TOPIC, 0, [erasedAt(5)]);
    await others.add(TOPIC, 0, [erasedAt(5)]);
    await others.publish();
    expect(await open().mask([recordAt(5)])).toEqual([{ ...recordAt(5), ...ERASED }]);
  });

  it('replaces an erased value by its remaining fields, also after a second erasure', async () => {
    const outcome = recordAt(7, { topic: 'carillon.outcomes', headers: {} });
    await mine.add('carillon.outcomes', 0, [leftAt(7, 'of ada and bob', 'of ada, bob and eve')]);
    await mine.add('carillon.outcomes', 0, [leftAt(7, 'of bob', 'of ada and bob')]);
    await mine.publish();
    expect(await mine.mask([outcome])).toEqual([{ ...outcome, value: text('of bob') }]);
  });

  it('keeps what another erasure removed since the record was read', async () => {
    const shown = async (): Promise<readonly LogRecord[]> => {
      await mine.publish();
      return mine.mask([recordAt(7, { topic: 'carillon.outcomes' })]);
    };
    await mine.add('carillon.outcomes', 0, [leftAt(7, 'of bob', 'of ada and bob')]);
    await others.add('carillon.outcomes', 0, [leftAt(7, 'of ada', 'of ada and bob')]);
    expect(await shown()).toMatchObject([{ value: text('of bob') }]);
    await mine.add('carillon.outcomes', 0, [erasedAt(7)]);
    await others.add('carillon.outcomes', 0, [leftAt(7, 'of ada', 'of bob')]);
    expect(await shown()).toMatchObject([ERASED]);
  });

  it('refuses to read the log by an old list if the store does not answer', async () => {
    const wire = createDirectWire();
    let isAway = false;
    const documents = memory.connect(wire);
    const away = createErasedRecords(
      {
        collection: (collection) => {
          const stored = documents.collection(collection);
          return { ...stored, get: (key) => (isAway ? Promise.reject(new Error('away')) : stored.get(key)) };
        },
      },
      [TOPIC],
    );
    expect(await away.mask([recordAt(1)])).toHaveLength(1);
    isAway = true;
    expect(await away.mask([recordAt(1)])).toHaveLength(1);
    vi.advanceTimersByTime(2_001);
    await expect(away.mask([recordAt(1)])).rejects.toThrow('away');
    expect(await away.mask([recordAt(1, { topic: 'carillon.config' })])).toHaveLength(1);
  });

  it('is used however long reading it takes, and refused if its number took over two seconds', async () => {
    await mine.add(TOPIC, 0, [erasedAt(5)]);
    await mine.publish();
    const documents = memory.connect(createDirectWire());
    const slow = { list: 0, number: 0 };
    const late = createErasedRecords(
      {
        collection: (collection) => {
          const stored = documents.collection(collection);
          return {
            ...stored,
            select: (...asked) => (vi.advanceTimersByTime(slow.list), stored.select(...asked)),
            get: (key) => (vi.advanceTimersByTime(key[0] === 'newest' ? slow.number : 0), stored.get(key)),
          };
        },
      },
      [TOPIC],
    );
    slow.list = 60_000;
    expect(await late.mask([recordAt(5)])).toMatchObject([ERASED]);
    slow.number = 2_001;
    vi.advanceTimersByTime(2_001);
    await expect(late.mask([recordAt(5)])).rejects.toMatchObject({ code: 'store_unavailable' });
  });

  it('loses what retention has removed from the log, without a new list', async () => {
    await mine.add(TOPIC, 0, [erasedAt(4), erasedAt(5)]);
    await mine.publish();
    const { number } = await mine.newest();
    await mine.removeBefore(async () => 5);
    expect(await open().newest()).toEqual({ number, offsets: { [TOPIC]: { 0: [5] } } });
    expect(await mine.newestNumber()).toBe(number);
  });

  it('stands between the log and each of its readers', async () => {
    await mine.add(TOPIC, 0, [erasedAt(5)]);
    await mine.publish();
    const log = withErasedRecords({ read: async () => [recordAt(5)] } as unknown as EventLog, mine);
    expect(await log.read(TOPIC, 0, 5, 1)).toMatchObject([ERASED]);
    const { first, starts } = await consuming(mine, [0]);
    await first.handle([recordAt(4), recordAt(5)], () => 6);
    expect(starts[0]?.seen).toMatchObject([
      { offset: 4, headers: { kind: 'event' } },
      { offset: 5, ...ERASED },
    ]);
  });

  it('restarts a worker after each new list, because its memory may hold data of an erased person', async () => {
    await others.newest();
    const { first, starts } = await consuming(others, [0, 5]);
    await first.handle([recordAt(4)], () => 6);
    await mine.publish();
    await first.handle([recordAt(4)], () => 6);
    vi.advanceTimersByTime(2_001);
    await first.handle([recordAt(4), recordAt(5)], () => 6);
    await first.handle([recordAt(6)], () => 7);
    expect(starts.map(({ seen }) => seen.map(({ offset }) => offset))).toEqual([
      [4, 4],
      [5, 6],
    ]);
    expect(starts.map(({ lost }) => lost)).toEqual([1, 0]);
    await first.lost();
    expect(starts.map(({ lost }) => lost)).toEqual([1, 1]);
  });

  it('passes over no record if the next worker begins earlier', async () => {
    await others.newest();
    const { first, starts } = await consuming(others, [0, 3]);
    await first.handle([recordAt(3)], () => 5);
    await mine.publish();
    vi.advanceTimersByTime(2_001);
    await expect(first.handle([recordAt(4)], () => 5)).rejects.toThrow('read to 3, before 4');
    expect(starts.map(({ seen }) => seen.map(({ offset }) => offset))).toEqual([[3], []]);
  });

  it('is applied to the log that a run reads', async () => {
    async function* pages(): AsyncGenerator<HistoryPage> {
      yield { records: [recordAt(4), recordAt(5)], next: 6, removed: 0 };
    }
    const history = withErasedOffsets<Pick<EventHistory, 'read' | 'pages'>>(
      { read: async () => [recordAt(5)], pages },
      { [TOPIC]: { 0: [5] } },
    );
    expect(await history.read(TOPIC, 0, 5, 1)).toMatchObject([ERASED]);
    for await (const { records } of history.pages({ topic: TOPIC, partition: 0, from: 4, end: 6 }, 10)) {
      expect(records).toMatchObject([{ headers: { kind: 'event' } }, ERASED]);
    }
  });
});
