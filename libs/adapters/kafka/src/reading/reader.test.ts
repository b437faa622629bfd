import { describe, expect, it } from 'vitest';
import { fetchedMessage } from '../../test/fetched-message.ts';
import type { Brokers, Cluster } from '../connection/cluster.ts';
import { isStale } from '../connection/faults.ts';
import { createWatermarks } from '../watermarks.ts';
import type { FetchedMessage } from './batch-reader.ts';
import type { FetchedPartition } from './fetch-response.ts';
import { createReader } from './reader.ts';

const OLDEST = -2;
const outOfRange = (): Error => Object.assign(new Error('out of range'), { type: 'OFFSET_OUT_OF_RANGE' });
const page = (highWatermark: number, ...messages: readonly FetchedMessage[]): readonly FetchedPartition[] => [
  { partition: 0, errorCode: 0, highWatermark, messages },
];

type Answer = readonly FetchedPartition[] | Error;

/** A reader over one scripted leader, which gives these answers one after the other. */
function readerOver(...answers: readonly Answer[]) {
  const left = [...answers];
  const held = { start: 0, end: 0 };
  const asked: number[] = [];
  const leader = {
    fetch: async ({ maxBytes }: { readonly maxBytes: number }) => {
      asked.push(maxBytes);
      const partitions = left.shift() ?? [];
      if (partitions instanceof Error) throw partitions;
      return { responses: partitions.length === 0 ? [] : [{ topicName: 'carillon.config', partitions }] };
    },
    async listOffsets({
      topics,
    }: {
      readonly topics: readonly { readonly partitions: readonly { readonly timestamp: number }[] }[];
    }) {
      const isStart = topics[0]?.partitions[0]?.timestamp === OLDEST;
      return { responses: [{ partitions: [{ partition: 0, offset: String(isStart ? held.start : held.end) }] }] };
    },
  };
  const cluster = {
    refreshMetadataIfNecessary: async () => undefined,
    findTopicPartitionMetadata: () => [{ partitionId: 0, leader: 1 }],
    findBroker: async () => leader,
  } as unknown as Cluster;
  const brokers: Brokers = {
    async use(_what, _deadline, work) {
      for (;;) {
        try {
          return await work(cluster);
        } catch (error) {
          if (!isStale(error) || left.length === 0) throw error;
        }
      }
    },
    close: () => undefined,
  };
  const reader = createReader(
    brokers,
    createWatermarks(() => undefined),
    1000,
  );
  const offsets = async (from = 0, maxRecords = 10, maxBytes?: number) =>
    (await reader.read('carillon.config', 0, from, maxRecords, maxBytes)).map(({ offset }) => offset);
  const fetchRange = (from: number, end: number) => reader.fetch({ topic: 'carillon.config', partition: 0, from, end });
  return { offsets, asked, held, fetchRange, raw: () => reader.raw('carillon.config', 0, 0), left };
}

it('a read does not take a response without the partition, as under a quota, for the end of the log', async () => {
  const { offsets, left } = readerOver([], page(2, fetchedMessage(0), fetchedMessage(1)), [], page(2));
  expect(await offsets()).toEqual([0, 1]);
  expect(left).toEqual([]);
});

it('a read takes an empty page for the end of the log only if the broker reports that end', async () => {
  const { offsets, left } = readerOver(
    page(2),
    page(2, fetchedMessage(0)),
    page(2),
    page(2, fetchedMessage(1)),
    page(2),
  );
  expect(await offsets()).toEqual([0, 1]);
  expect(left).toEqual([]);
});

it('a read fails if all responses lack the partition, also a read of the log id', async () => {
  await expect(readerOver([], []).offsets()).rejects.toThrow('left out carillon.config/0');
  await expect(readerOver([], page(1)).raw()).rejects.toThrow('ends at 1');
  expect(await readerOver(page(0)).raw()).toEqual([]);
});

it('a read requests few bytes for one record, and the maximum of a fetch for many', async () => {
  const one = readerOver(page(9, fetchedMessage(3), fetchedMessage(4)));
  expect(await one.offsets(3, 1)).toEqual([3]);
  const many = readerOver(page(9, fetchedMessage(3)), page(4));
  await many.offsets(3, 10_000);
  const bounded = readerOver(page(9, fetchedMessage(3)), page(4));
  await bounded.offsets(3, 10_000, 100_000);
  expect([one.asked[0], many.asked[0], bounded.asked[0]]).toEqual([65_536, 4_194_304, 100_000]);
});

it('a read requests more bytes with each fetch until it has enough records', async () => {
  const { offsets, asked } = readerOver(
    page(4, fetchedMessage(0)),
    page(4, fetchedMessage(1)),
    page(4, fetchedMessage(2)),
  );
  expect(await offsets(0, 3)).toEqual([0, 1, 2]);
  expect(asked).toEqual([65_536, 262_144, 1_048_576]);
});

it('a read does not take a small response with only earlier records for the end of the log', async () => {
  const { offsets, asked } = readerOver(
    page(9, fetchedMessage(3), fetchedMessage(4)),
    page(9, fetchedMessage(3), fetchedMessage(4), fetchedMessage(7)),
  );
  expect(await offsets(5, 1)).toEqual([7]);
  expect(asked).toEqual([65_536, 4_194_304]);
  const whole = readerOver(page(9, fetchedMessage(3)), page(9, fetchedMessage(3)));
  expect(await whole.offsets(5, 1)).toEqual([]);
});

describe('a read of a range of offsets', () => {
  const offsetsOf = ({ records }: { readonly records: readonly { readonly offset: number }[] }) =>
    records.map(({ offset }) => offset);

  it('returns the records of the range and the next offset', async () => {
    const { fetchRange } = readerOver(page(9, fetchedMessage(3), fetchedMessage(4), fetchedMessage(5)));
    const fetched = await fetchRange(4, 5);
    expect([offsetsOf(fetched), fetched.next, fetched.removed]).toEqual([[4], 5, 0]);
  });

  it('counts the records that retention removes while the range is read', async () => {
    const { fetchRange, held } = readerOver(outOfRange(), outOfRange());
    Object.assign(held, { start: 6, end: 9 });
    expect(await fetchRange(4, 9)).toEqual({ records: [], next: 6, removed: 2 });
    expect(await fetchRange(4, 5)).toEqual({ records: [], next: 5, removed: 1 });
  });

  it('waits for a new leader that does not know yet which records are committed', async () => {
    const { fetchRange, held } = readerOver(page(3), page(9, fetchedMessage(4)));
    held.end = 9;
    expect(offsetsOf(await fetchRange(4, 9))).toEqual([4]);
  });

  it('fails if the partition ends within the range, because the topic was recreated', async () => {
    const ended = readerOver(outOfRange());
    ended.held.end = 2;
    await expect(ended.fetchRange(4, 9)).rejects.toMatchObject({ code: 'wrong_log' });
    const shorter = readerOver(page(4));
    shorter.held.end = 4;
    await expect(shorter.fetchRange(4, 9)).rejects.toMatchObject({ code: 'wrong_log' });
  });

  it('continues after an empty response under a quota', async () => {
    const { fetchRange, left } = readerOver([], page(9), page(9, fetchedMessage(4)));
    expect(offsetsOf(await fetchRange(4, 9))).toEqual([4]);
    expect(left).toEqual([]);
  });
});
