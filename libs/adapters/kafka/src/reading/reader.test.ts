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
  const leader = {
    fetch: async () => {
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
  const offsets = async () => (await reader.read('carillon.config', 0, 0, 10)).map(({ offset }) => offset);
  return { offsets, raw: () => reader.raw('carillon.config', 0, 0), left };
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
