import { setTimeout as pause } from 'node:timers/promises';
import type { ConsumeOptions } from '@carillon/ports';
import { untilFound } from '@carillon/testing';
import { expect, it } from 'vitest';
import { fetchedMessage } from '../../test/fetched-message.ts';
import type { Brokers, Cluster } from '../connection/cluster.ts';
import { createWatermarks } from '../watermarks.ts';
import { startAssignment } from './assignment.ts';
import { createFetching } from './fetching.ts';

const outOfRange = Object.assign(new Error('trimmed'), { type: 'OFFSET_OUT_OF_RANGE', partition: 0 });
/** A leader that holds 0 and 1, loses what comes after to retention, and holds 5. */
function brokersThatTrim(): Brokers {
  const leader = {
    async fetch({ topics }: { topics: readonly { partitions: readonly { fetchOffset: string }[] }[] }) {
      const from = Number(topics[0]?.partitions[0]?.fetchOffset);
      if (from > 1 && from < 5) throw outOfRange;
      if (from > 5) await pause(10);
      const offsets = from > 5 ? [] : from === 5 ? [5] : [0, 1];
      const partitions = [{ partition: 0, errorCode: 0, highWatermark: 6, messages: offsets.map(fetchedMessage) }];
      return { responses: [{ topicName: 'carillon.events', partitions }] };
    },
  };
  const cluster = {
    refreshMetadataIfNecessary: async () => undefined,
    refreshMetadata: async () => undefined,
    findTopicPartitionMetadata: () => [{ partitionId: 0, leader: 1 }],
    findBroker: async () => leader,
  } as unknown as Cluster;
  return { use: async (_what, _deadline, work) => work(cluster), close: () => undefined };
}

it('what retention took from under a worker is told: it handles what it has, and begins anew behind the gap', async () => {
  const begun: number[] = [];
  const handled: number[] = [];
  const failures: string[] = [];
  let start = 0;
  const trimmed = Promise.withResolvers<void>();
  const bounds = async () => ({ start, end: 6 });
  const settling = async () => {
    start = 5;
    trimmed.resolve();
    return bounds();
  };
  const fetching = createFetching(
    'carillon.events',
    brokersThatTrim(),
    settling,
    createWatermarks(() => undefined),
  );
  const options: ConsumeOptions = {
    group: 'engine',
    topic: 'carillon.events',
    maxRecords: 1,
    maxBytes: 1_000_000,
    async assigned() {
      begun.push(start);
      return {
        from: start,
        async handle(records) {
          handled.push(...records.map(({ offset }) => offset));
          // The second record waits in the buffer while the gap is met.
          await trimmed.promise;
        },
        lost: async () => undefined,
      };
    },
    failed: (_partition, error) => failures.push(String(error)),
  };
  const nothingBefore = Promise.resolve();
  const assignment = startAssignment(options, 0, { fetching, bounds }, nothingBefore);
  await untilFound('the record behind the gap', async () => handled.includes(5) || undefined);
  await assignment.end();
  fetching.close();
  expect([begun, handled]).toEqual([
    [0, 5],
    [0, 1, 5],
  ]);
  expect(failures).toEqual([expect.stringContaining('records from 2 on left the log before they were read')]);
});
