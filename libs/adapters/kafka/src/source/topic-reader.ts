import { setTimeout as pause } from 'node:timers/promises';
import type { KafkaPosition } from '@carillon/domain/changes';
import type { SourceReader, TopicEnd, TopicHandlers, TopicRecord, TopicTarget } from '@carillon/ports';
import { TopicFailure } from './failures.ts';
import { ForeignCluster, type Access } from './foreign-cluster.ts';
import { heldRecords } from './held-records.ts';
import { mayNotRead, planReading, type Plan, type ReadPlace } from './partitions.ts';
import { CODES, fetchRequest, type FetchedPart } from './requests.ts';
import { readTopicRecords, type ReadRecords } from './topic-records.ts';

export type ReadingOrder = {
  readonly access: Access;
  readonly target: TopicTarget;
  readonly topics: readonly string[];
  readonly from: KafkaPosition | null;
  readonly handlers: TopicHandlers;
};

const MAX_WAIT_MS = 500;
const STALE_PAUSE_MS = 200;
/** Bytes that all leaders together may send ahead. */
const MAX_FETCHED_BYTES = 4 * 1024 * 1024;
const MIN_FETCH_BYTES = 256 * 1024;
const MAX_BATCH_RECORDS = 500;
const MAX_BATCH_BYTES = 1024 * 1024;
/** Bytes that the records of one answer may have once they are unpacked. The rest is fetched again. */
const MAX_UNPACKED_BYTES = 16 * 1024 * 1024;
/** End of the year 9999. */
const MAX_TIME = 253_402_300_799_999;

type Read = ReadRecords & { readonly place: ReadPlace };
/** One set of leaders. It ends when leaders, partitions or topics change. */
type Round = { isOver: boolean };

/** `take` rejected: the reader ends with its error. */
class TakeFailed extends Error {}

/** Reads topics until it is closed, or until a state of the source ends it. */
export function openTopicReader(order: ReadingOrder): SourceReader<TopicEnd> {
  const run = new TopicRun(order);
  const ended = run.run();
  return {
    ended,
    async close() {
      run.close();
      await ended;
    },
  };
}

class TopicRun {
  readonly #order: ReadingOrder;
  readonly #cluster: ForeignCluster;
  readonly #since = new Map<string, number>();
  /** By partition: where its committed records end. */
  readonly #ends = new Map<string, number>();
  readonly #denied = new Set<string>();
  #position: KafkaPosition | null;
  #last: Promise<unknown> = Promise.resolve();
  #isClosed = false;
  readonly #closing = new AbortController();

  constructor(order: ReadingOrder) {
    this.#order = order;
    this.#position = order.from;
    this.#cluster = new ForeignCluster(order.access, order.target);
  }

  close(): void {
    this.#isClosed = true;
    this.#closing.abort();
    this.#cluster.close();
  }

  async run(): Promise<TopicEnd> {
    try {
      while (!this.#isClosed) await this.#readRound();
      return { kind: 'closed', error: null };
    } catch (error) {
      return await this.#endOf(error);
    } finally {
      this.close();
      await this.#last.catch(() => undefined);
    }
  }

  async #endOf(error: unknown): Promise<TopicEnd> {
    if (error instanceof TakeFailed) return { kind: 'closed', error: error.cause };
    if (this.#isClosed) return { kind: 'closed', error: null };
    if (!(error instanceof TopicFailure)) return { kind: 'closed', error };
    const { failure } = error;
    if (failure.kind === 'waiting') return failure;
    return { ...failure, lagRecords: await this.#held() };
  }

  async #held(): Promise<number | null> {
    try {
      return await heldRecords(this.#cluster, this.#order.topics);
    } catch {
      return null;
    }
  }

  /** Reads until leaders, partitions or topics change. */
  async #readRound(): Promise<void> {
    const { topics } = this.#order;
    const plan = await planReading(this.#cluster, topics, this.#position, Date.now());
    if (JSON.stringify(plan.position) !== JSON.stringify(this.#position)) await this.#take([], plan.position);
    if (plan.named.length > 0) for (const topic of plan.named) this.#since.set(topic, Date.now());
    this.#report(plan);
    // Permissions may have been given since.
    this.#denied.clear();
    const round: Round = { isOver: false };
    const leaders = Map.groupBy(plan.places, ({ leader }) => leader);
    const maxBytes = Math.max(MIN_FETCH_BYTES, Math.floor(MAX_FETCHED_BYTES / Math.max(1, leaders.size)));
    await endTogether(round, [
      this.#refresh(round, plan),
      ...[...leaders].map(([leader, places]) => this.#readLeader(round, leader, places, maxBytes)),
    ]);
  }

  /** Looks for other leaders, partitions and topics, and reports. */
  async #refresh(round: Round, plan: Plan): Promise<void> {
    const { topics, access } = this.#order;
    while (!round.isOver && !this.#isClosed) {
      await pause(access.timing.refreshMs, undefined, { signal: this.#closing.signal }).catch(() => undefined);
      if (round.isOver || this.#isClosed) return;
      this.#report(plan);
      // What is missing since the last look is found by the leaders themselves.
      const now = await planReading(this.#cluster, topics, null, Date.now());
      if (shapeOf(now) !== shapeOf(plan) || this.#denied.size > 0) round.isOver = true;
    }
  }

  async #readLeader(round: Round, leader: number, places: readonly ReadPlace[], maxBytes: number): Promise<void> {
    const broker = await this.#cluster.broker(leader);
    const offsets = new Map(places.map((place) => [keyOf(place), place.offset]));
    // A broker fills its answer from the first partition on, so each of them is first in turn.
    const turn = [...places];
    while (!round.isOver && !this.#isClosed) {
      const readable = turn.filter(({ topic }) => !this.#denied.has(topic));
      if (readable.length === 0) return;
      const asked = readable.map((place) => ({ ...place, offset: offsets.get(keyOf(place)) ?? place.offset }));
      const { errorCode, parts } = await broker.send(fetchRequest(asked, { maxWaitMs: MAX_WAIT_MS, maxBytes }));
      if (errorCode !== 0 || !this.#accepts(asked, parts)) {
        round.isOver = true;
        await pause(STALE_PAUSE_MS, undefined, { signal: this.#closing.signal }).catch(() => undefined);
        return;
      }
      const read = readParts(asked, parts);
      for (const { place, next } of read) offsets.set(keyOf(place), next);
      await this.#deliver(read);
      const first = turn.shift();
      if (first !== undefined) turn.push(first);
    }
  }

  /** Returns false if metadata has to be read again. */
  #accepts(asked: readonly ReadPlace[], parts: readonly FetchedPart[]): boolean {
    for (const part of parts) {
      const place = asked.find(({ topicId, partition }) => topicId === part.topicId && partition === part.partition);
      if (!place) return false;
      if (part.errorCode === CODES.notAuthorized) this.#denied.add(place.topic);
      else if (part.errorCode === 0) this.#ends.set(keyOf(place), part.stableOffset);
      // A new look at the topics says what is missing.
      else return false;
    }
    return true;
  }

  /** Hands records over, one answer after the other, so that each leader waits until its records are durable. */
  #deliver(read: readonly Read[]): Promise<void> {
    const delivered = this.#last.then(() => this.#takeAll(read));
    this.#last = delivered.catch(() => undefined);
    return delivered;
  }

  async #takeAll(read: readonly Read[]): Promise<void> {
    let records: TopicRecord[] = [];
    let bytes = 0;
    let position = this.#position;
    const flush = async (): Promise<void> => {
      if (position === null || position === this.#position) return;
      await this.#take(records, position);
      records = [];
      bytes = 0;
    };
    for (const { place, records: found, next } of read) {
      const { topic, topicId, partition } = place;
      for (const record of found) {
        const at = timeOf(record.time);
        records.push({ ...record, topic, topicId, partition, at, timestamp: record.time });
        position = moved(position, place, record.offset + 1, at);
        bytes += record.value?.length ?? 0;
        if (records.length >= MAX_BATCH_RECORDS || bytes >= MAX_BATCH_BYTES) await flush();
      }
      if (next > place.offset) position = moved(position, place, next, 0);
    }
    await flush();
  }

  async #take(records: readonly TopicRecord[], position: KafkaPosition): Promise<void> {
    if (this.#isClosed) throw new TakeFailed('the reader was closed', { cause: null });
    try {
      await this.#order.handlers.take({ records, position });
    } catch (error) {
      throw new TakeFailed('take rejected', { cause: error });
    }
    this.#position = position;
  }

  #report({ places, problems }: Plan): void {
    const tables = this.#order.topics.map((topic) => {
      const problem = problems.get(topic) ?? (this.#denied.has(topic) ? mayNotRead(topic) : null);
      return { table: topic, since: problem === null ? (this.#since.get(topic) ?? null) : null, problem };
    });
    this.#order.handlers.report({ tables, lagRecords: this.#lagOf(places) });
  }

  /** Null if the end of a partition that may be read is not known yet. */
  #lagOf(places: readonly ReadPlace[]): number | null {
    let lag = 0;
    for (const place of places) {
      if (this.#denied.has(place.topic)) continue;
      const end = this.#ends.get(keyOf(place));
      if (end === undefined) return null;
      const next = this.#position?.topics[place.topic]?.partitions[place.partition] ?? place.offset;
      lag += Math.max(0, end - next);
    }
    return lag;
  }
}

const keyOf = ({ topic, partition }: { readonly topic: string; readonly partition: number }): string =>
  `${topic}/${partition}`;

/** Equal for plans by which the same leaders are asked for the same partitions. */
const shapeOf = ({ places, problems }: Plan): string =>
  JSON.stringify([
    places.map(({ topicId, partition, leader, epoch }) => [topicId, partition, leader, epoch]),
    [...problems.keys()],
  ]);

function moved(position: KafkaPosition | null, place: ReadPlace, next: number, at: number): KafkaPosition | null {
  const topic = position?.topics[place.topic];
  if (position === null || topic === undefined) return position;
  const partitions = { ...topic.partitions, [place.partition]: next };
  return {
    ...position,
    topics: { ...position.topics, [place.topic]: { ...topic, partitions } },
    // A producer may have set a time that is still to come.
    at: Math.max(position.at, Math.min(at, Date.now())),
  };
}

const timeOf = (time: number): number => (time >= 0 && time <= MAX_TIME ? time : Date.now());

function readParts(asked: readonly ReadPlace[], parts: readonly FetchedPart[]): readonly Read[] {
  const budget = { left: MAX_UNPACKED_BYTES };
  return parts.flatMap(({ topicId, partition, bytes, aborted }) => {
    const place = asked.find((one) => one.topicId === topicId && one.partition === partition);
    if (!place || budget.left <= 0) return [];
    return [{ place, ...readTopicRecords(bytes, place.offset, aborted, budget) }];
  });
}

/** Resolves when all have ended. The first that ends, or fails, ends the round for the others. */
async function endTogether(round: Round, work: readonly Promise<void>[]): Promise<void> {
  const results = await Promise.allSettled(
    work.map((one) =>
      one.catch((error: unknown) => {
        round.isOver = true;
        throw error;
      }),
    ),
  );
  const failed = results.filter((result) => result.status === 'rejected').map(({ reason }): unknown => reason);
  const cause = failed.find((reason) => reason instanceof TakeFailed) ?? failed[0];
  if (failed.length > 0) throw cause;
}
