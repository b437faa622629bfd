import { expect, it } from 'vitest';
import { fetchedMessage } from '../../test/fetched-message.ts';
import type { Brokers, Cluster } from '../connection/cluster.ts';
import { isStale } from '../connection/faults.ts';
import { createWatermarks } from '../watermarks.ts';
import type { FetchedMessage } from './batch-reader.ts';
import type { FetchedPartition } from './fetch-response.ts';
import { createReader } from './reader.ts';

const page = (highWatermark: number, ...messages: readonly FetchedMessage[]): readonly FetchedPartition[] => [
  { partition: 0, errorCode: 0, highWatermark, messages },
];

/** One leader that gives these answers in turn, and whoever asks it again after what passes. */
function readerOver(...answers: readonly (readonly FetchedPartition[])[]) {
  const left = [...answers];
  const asked: number[] = [];
  const leader = {
    fetch: async ({ maxBytes }: { readonly maxBytes: number }) => {
      asked.push(maxBytes);
      const partitions = left.shift() ?? [];
      return { responses: partitions.length === 0 ? [] : [{ topicName: 'carillon.config', partitions }] };
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
  return { offsets, asked, raw: () => reader.raw('carillon.config', 0, 0), left };
}

it('an answer without the partition, as a client over its quota gets it, is not taken for the end', async () => {
  const { offsets, left } = readerOver([], page(2, fetchedMessage(0), fetchedMessage(1)), [], page(2));
  expect(await offsets()).toEqual([0, 1]);
  expect(left).toEqual([]);
});

it('an empty page is the end only where the broker says that the partition ends there', async () => {
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

it('nothing but such answers is a failure, also for who looks for the name of the log', async () => {
  await expect(readerOver([], []).offsets()).rejects.toThrow('answered without carillon.config/0');
  await expect(readerOver([], page(1)).raw()).rejects.toThrow('goes on to 1');
  expect(await readerOver(page(0)).raw()).toEqual([]);
});

it('who wants one record asks for little, and who wants many for as much as a fetch may bring', async () => {
  const one = readerOver(page(9, fetchedMessage(3), fetchedMessage(4)));
  expect(await one.offsets(3, 1)).toEqual([3]);
  const many = readerOver(page(9, fetchedMessage(3)), page(4));
  await many.offsets(3, 10_000);
  const bounded = readerOver(page(9, fetchedMessage(3)), page(4));
  await bounded.offsets(3, 10_000, 100_000);
  expect([one.asked[0], many.asked[0], bounded.asked[0]]).toEqual([65_536, 4_194_304, 100_000]);
});

it('a read asks for more with each fetch until it has what it wants', async () => {
  const { offsets, asked } = readerOver(
    page(4, fetchedMessage(0)),
    page(4, fetchedMessage(1)),
    page(4, fetchedMessage(2)),
  );
  expect(await offsets(0, 3)).toEqual([0, 1, 2]);
  expect(asked).toEqual([65_536, 262_144, 1_048_576]);
});

it('a small answer with nothing but what lies before is not taken for the end', async () => {
  const { offsets, asked } = readerOver(
    page(9, fetchedMessage(3), fetchedMessage(4)),
    page(9, fetchedMessage(3), fetchedMessage(4), fetchedMessage(7)),
  );
  expect(await offsets(5, 1)).toEqual([7]);
  expect(asked).toEqual([65_536, 4_194_304]);
  const whole = readerOver(page(9, fetchedMessage(3)), page(9, fetchedMessage(3)));
  expect(await whole.offsets(5, 1)).toEqual([]);
});
