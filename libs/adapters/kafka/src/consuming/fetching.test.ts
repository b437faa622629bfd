import { setTimeout as pause } from 'node:timers/promises';
import type { ConsumeOptions } from '@carillon/ports';
import { untilFound } from '@carillon/testing';
import { expect, it } from 'vitest';
import { fetchedMessage } from '../../test/fetched-message.ts';
import type { Brokers, Cluster } from '../connection/cluster.ts';
import { createWatermarks } from '../watermarks.ts';
import { startAssignment } from './assignment.ts';
import { createFetching } from './fetching.ts';
import { createPartitionBuffer, type PartitionBuffer } from './partition-buffer.ts';

/** Brokers of which one leads these partitions. */
function brokersLedBy(
  leader: { readonly fetch: (request: never) => Promise<unknown> },
  partitions: readonly number[],
): Brokers {
  const cluster = {
    refreshMetadataIfNecessary: async () => undefined,
    refreshMetadata: async () => undefined,
    findTopicPartitionMetadata: () => partitions.map((partitionId) => ({ partitionId, leader: 1 })),
    findBroker: async () => leader,
  } as unknown as Cluster;
  return { use: async (_what, _deadline, work) => work(cluster), close: () => undefined };
}

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
  return brokersLedBy(leader, [0]);
}

it('a consumer reports records that retention removed before it read them, and continues after the gap', async () => {
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

/** A leader whose empty responses the test releases. */
function brokersThatWait(): { readonly brokers: Brokers; readonly asked: number[][]; readonly answer: () => void } {
  const asked: number[][] = [];
  let open = Promise.withResolvers<void>();
  const leader = {
    async fetch({ topics }: { topics: readonly { partitions: readonly { partition: number }[] }[] }) {
      asked.push((topics[0]?.partitions ?? []).map(({ partition }) => partition));
      await open.promise;
      return { responses: [{ topicName: 'carillon.events', partitions: [] }] };
    },
  };
  return {
    brokers: brokersLedBy(leader, [0, 1]),
    asked,
    answer() {
      open.resolve();
      open = Promise.withResolvers<void>();
    },
  };
}

// At one of these delays a partition once was never fetched: the new partition found a running loop that had just
// decided to end.
it.each(Array.from({ length: 20 }, (_, turns) => turns))(
  'a consumer fetches a partition that is added %i microtasks after a response',
  async (turns) => {
    const { brokers, asked, answer } = brokersThatWait();
    const fetching = createFetching(
      'carillon.events',
      brokers,
      async () => ({ start: 0, end: 0 }),
      createWatermarks(() => undefined),
    );
    const buffer = (partition: number): PartitionBuffer => createPartitionBuffer(partition, 0, () => fetching.wake());
    fetching.add(buffer(0));
    await untilFound('the first request', async () => asked.length === 1 || undefined);
    answer();
    for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
    fetching.add(buffer(1));
    await untilFound(
      'a request for both',
      async () => {
        answer();
        return asked.some((partitions) => partitions.length === 2) || undefined;
      },
      2_000,
    );
    fetching.close();
    answer();
  },
);

/** A leader that holds one record of half a megabyte in each of these partitions, and notes how long each request lets it wait. */
function brokersThatHold(filled: readonly number[]) {
  const requests: { readonly partitions: readonly number[]; readonly maxWaitTime: number }[] = [];
  type Wanted = { readonly partition: number; readonly fetchOffset: string };
  const leader = {
    async fetch({
      maxWaitTime,
      topics,
    }: {
      maxWaitTime: number;
      topics: readonly { partitions: readonly Wanted[] }[];
    }) {
      const wanted = topics[0]?.partitions ?? [];
      requests.push({ partitions: wanted.map(({ partition }) => partition), maxWaitTime });
      const partitions = wanted.map(({ partition, fetchOffset }) => {
        const messages =
          Number(fetchOffset) === 0 && filled.includes(partition)
            ? [{ ...fetchedMessage(0), value: Buffer.alloc(512 * 1024) }]
            : [];
        return { partition, errorCode: 0, highWatermark: messages.length, messages };
      });
      if (partitions.every(({ messages }) => messages.length === 0)) await pause(1);
      return { responses: [{ topicName: 'carillon.events', partitions }] };
    },
  };
  return { brokers: brokersLedBy(leader, [0, 1]), requests };
}

// With a long wait for the empty one, the full one was not asked for again for half a second after it was worked off.
it('a consumer waits long for new records only if it fetches all of its partitions, so that a partition left out is soon fetched', async () => {
  const { brokers, requests } = brokersThatHold([0]);
  const fetching = createFetching(
    'carillon.events',
    brokers,
    async () => ({ start: 0, end: 1 }),
    createWatermarks(() => undefined),
  );
  const [full, empty] = [0, 1].map((partition) => createPartitionBuffer(partition, 0, () => fetching.wake()));
  if (!full || !empty) throw new Error('two buffers were made');
  fetching.add(full);
  fetching.add(empty);
  const without = () => requests.filter(leavesOut(0)).map(({ maxWaitTime }) => maxWaitTime);
  await untilFound('a wait as long as any', async () => without().includes(500) || undefined);
  // Twenty at first, and the more often nothing came the longer.
  expect(without().slice(0, 4)).toEqual([20, 22, 24, 27]);
  expect(without()).toEqual(without().toSorted((a, b) => a - b));
  await full.take(1, 1024 * 1024, new AbortController().signal);
  const after = requests.length;
  const hasAll = ({ partitions }: { readonly partitions: readonly number[] }) => partitions.length === 2;
  await untilFound('a request for both', async () => requests.slice(after).some(hasAll) || undefined);
  fetching.close();
  expect(new Set(requests.filter(hasAll).map(({ maxWaitTime }) => maxWaitTime))).toEqual(new Set([500]));
});

const leavesOut =
  (partition: number) =>
  ({ partitions }: { readonly partitions: readonly number[] }): boolean =>
    !partitions.includes(partition);
