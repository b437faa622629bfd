import { setTimeout as pause } from 'node:timers/promises';
import { CarillonError } from '@carillon/kernel';
import type { TopicName } from '@carillon/ports';
import { type Brokers, type Cluster, type ProtocolBroker, READ_UNCOMMITTED, refused } from '../connection/cluster.ts';
import { isOutOfRange, isRefusal, isUnreadable, partitionOf, staleError } from '../connection/faults.ts';
import { placeOf } from '../producing/appending.ts';
import { WantedRecords } from '../reading/fetch-response.ts';
import type { Bounds } from '../reading/reader.ts';
import { chunkOf } from '../reading/records.ts';
import type { Watermarks } from '../watermarks.ts';
import type { PartitionBuffer } from './partition-buffer.ts';

const PARTITION_BYTES = 1024 * 1024;
const FETCH_BYTES = 8 * 1024 * 1024;
const MAX_WAIT_MS = 500;
/**
 * Milliseconds a fetch may wait while it leaves partitions out, because a leader has only one open fetch. Left-out
 * partitions are being processed, so each further empty fetch waits a tenth longer: the total wait is about a tenth of
 * the processing time, and a partition that is blocked for hours costs few fetches.
 */
const WAIT_WITHOUT_ALL_MS = 20;
const LONGER = 1.1;
const LEADERS_TIMEOUT_MS = 10_000;
/** After a failure the leader may be another one: look again instead of asking the same broker. */
const ONE_ATTEMPT = 0;
const FAILURE_PAUSE_MS = 250;

/** Keeps the buffers of one consumer filled: one open fetch per leader, for all partitions there that want more. */
export type Fetching = {
  add(buffer: PartitionBuffer): void;
  remove(buffer: PartitionBuffer): void;
  /** Looks again who wants records. */
  wake(): void;
  close(): void;
};

type BoundsOf = (partition: number) => Promise<Bounds>;

export function createFetching(topic: TopicName, brokers: Brokers, bounds: BoundsOf, watermarks: Watermarks): Fetching {
  const buffers = new Set<PartitionBuffer>();
  const busy = new Set<string>();
  const closing = new AbortController();
  let looking = false;
  let wanted = false;
  let waitWithoutAll = WAIT_WITHOUT_ALL_MS;
  const settle = (buffer: PartitionBuffer, error: unknown): Promise<void> =>
    settleFault(buffer, error, { topic, bounds, watermarks });

  /** Starts a fetch at every leader that has none open. Leaders are looked up each time: they move. */
  async function look(): Promise<void> {
    const hungry = [...buffers].filter((buffer) => buffer.hungry());
    if (hungry.length === 0 || closing.signal.aborted) return;
    const byLeader = await brokers.use(`finding the leaders of ${topic}`, LEADERS_TIMEOUT_MS, async (cluster) => {
      await cluster.refreshMetadataIfNecessary();
      const groups = groupByLeader(cluster, topic, hungry);
      const led = [...groups.values()].reduce((sum, group) => sum + group.length, 0);
      if (led < hungry.length) await cluster.refreshMetadata();
      return groups;
    });
    const isAll = hungry.length === buffers.size;
    if (isAll) waitWithoutAll = WAIT_WITHOUT_ALL_MS;
    const wait = isAll ? MAX_WAIT_MS : Math.round(waitWithoutAll);
    for (const [leader, group] of byLeader) {
      if (busy.has(leader)) continue;
      busy.add(leader);
      void fetchFrom(leader, group, wait)
        .catch(() => pause(FAILURE_PAUSE_MS, undefined, { signal: closing.signal }).catch(() => undefined))
        .finally(() => {
          busy.delete(leader);
          wake();
        });
    }
  }

  function wake(): void {
    wanted = true;
    if (!looking) void lookWhileWanted();
  }

  /**
   * Runs until no fetch is requested. A request during a run causes another iteration. Between the last check and the
   * end there is no await, because a request in between would wake nothing.
   */
  async function lookWhileWanted(): Promise<void> {
    looking = true;
    while (wanted && !closing.signal.aborted) {
      wanted = false;
      await look().catch(() => pause(FAILURE_PAUSE_MS, undefined, { signal: closing.signal }).catch(() => undefined));
      // No open fetch would wake this buffer.
      if (busy.size === 0 && [...buffers].some((buffer) => buffer.hungry())) wanted = true;
    }
    looking = false;
  }

  async function fetchFrom(leader: string, group: readonly PartitionBuffer[], maxWaitTime: number): Promise<void> {
    try {
      await fetchOnce(leader, group, maxWaitTime);
    } catch (error) {
      const at = partitionOf(error);
      const culprit = group.length === 1 ? group[0] : group.find(({ partition }) => partition === at);
      if (culprit && (isOutOfRange(error) || (isUnreadable(error) && group.length === 1))) {
        return await settle(culprit, error);
      }
      if (isRefusal(error)) {
        // Reports the refusal, because nothing is read until access is granted.
        for (const buffer of group) buffer.fail(refused(`reading ${topic}`, error));
        return undefined;
      }
      if (!isUnreadable(error)) throw error;
      // The response does not say which partition cannot be read, so each is requested alone.
      for (const buffer of group) {
        await fetchOnce(leader, [buffer], 0).catch((own: unknown) => settle(buffer, own));
      }
    }
  }

  async function fetchOnce(leader: string, group: readonly PartitionBuffer[], maxWaitTime: number): Promise<void> {
    const asked = new Map(group.map((buffer) => [buffer.partition, { buffer, from: buffer.next() }]));
    const partitions = [...asked].map(([partition, { from }]) => new WantedRecords(partition, from, PARTITION_BYTES));
    const { responses } = await brokers.use(`reading ${topic}`, ONE_ATTEMPT, async (cluster) =>
      fetchRecords(await cluster.findBroker({ nodeId: leader }), maxWaitTime, [{ topic, partitions }]),
    );
    const answered = responses[0]?.partitions ?? [];
    const isEmpty = answered.every(({ messages }) => messages.length === 0);
    waitWithoutAll = isEmpty ? Math.min(waitWithoutAll * LONGER, MAX_WAIT_MS) : WAIT_WITHOUT_ALL_MS;
    for (const { partition, messages, highWatermark } of answered) {
      const request = asked.get(partition);
      if (!request || !buffers.has(request.buffer)) continue;
      const chunk = chunkOf(topic, partition, request.from, messages);
      watermarks.saw(placeOf(topic, partition), chunk.next);
      request.buffer.put(request.from, chunk, highWatermark);
    }
  }

  return {
    add(buffer) {
      buffers.add(buffer);
      wake();
    },
    remove: (buffer) => void buffers.delete(buffer),
    wake,
    close() {
      closing.abort();
      buffers.clear();
    },
  };
}

/**
 * Handles an out-of-range position. Before the start, retention removed records: the worker continues there and reports
 * the number. Beyond the end, the position belongs to another log.
 */
async function settleFault(
  buffer: PartitionBuffer,
  error: unknown,
  {
    topic,
    bounds,
    watermarks,
  }: { readonly topic: TopicName; readonly bounds: BoundsOf; readonly watermarks: Watermarks },
): Promise<void> {
  if (!isOutOfRange(error)) return isUnreadable(error) ? buffer.fail(error) : undefined;
  const { start, end } = await bounds(buffer.partition);
  const place = placeOf(topic, buffer.partition);
  if (buffer.next() < start) {
    const words = `${place} begins at ${start}: records from ${buffer.next()} on left the log before they were read`;
    return buffer.fail(new CarillonError('log_unavailable', words));
  }
  if (buffer.next() <= end) return;
  if (buffer.next() <= watermarks.end(place)) return buffer.fail(watermarks.receded(place, end));
  buffer.fail(
    new CarillonError('wrong_log', `${place} ends at ${end}, but the reader had already read up to ${buffer.next()}`),
  );
}

type FetchTopics = Parameters<ProtocolBroker['fetch']>[0]['topics'];

const fetchRecords = (broker: ProtocolBroker, maxWaitTime: number, topics: FetchTopics) =>
  broker.fetch({ isolationLevel: READ_UNCOMMITTED, maxWaitTime, minBytes: 1, maxBytes: FETCH_BYTES, topics });

function groupByLeader(
  cluster: Cluster,
  topic: string,
  buffers: readonly PartitionBuffer[],
): ReadonlyMap<string, readonly PartitionBuffer[]> {
  const leaders = new Map(
    cluster.findTopicPartitionMetadata(topic).map(({ partitionId, leader }) => [partitionId, leader]),
  );
  const groups = new Map<string, PartitionBuffer[]>();
  for (const buffer of buffers) {
    const leader = leaders.get(buffer.partition);
    if (leader === undefined || leader < 0) continue;
    const own = groups.get(String(leader));
    if (own) own.push(buffer);
    else groups.set(String(leader), [buffer]);
  }
  if (groups.size === 0) {
    throw staleError(`${topic} has no leader now`);
  }
  return groups;
}
