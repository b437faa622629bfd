import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import type { KafkaPosition } from '@carillon/domain/changes';
import type { Coroutine } from '@carillon/kernel';
import type { SourceReader, TopicEnd, TopicHandlers, TopicRecord, TopicTarget } from '@carillon/ports';
import { TopicFailure, waiting } from './failures.ts';
import { ForeignCluster, type Access } from './foreign-cluster.ts';
import { heldRecords } from './held-records.ts';
import { mayNotRead, planReading, shapeOf, type Plan, type ReadPlace } from './partitions.ts';
import { CODES, fetchRequest, type Fetched, type FetchedPart } from './requests.ts';
import { readTopicRecords, type ReadRecords } from './topic-records.ts';

export type ReadingOrder = {
  readonly access: Access;
  readonly target: TopicTarget;
  readonly topics: readonly string[];
  readonly from: KafkaPosition | null;
  readonly handlers: TopicHandlers;
};

const MAX_WAIT_MS = 500;
/** Answers in a row in which a partition may fail. Each is followed by a new look at the metadata. */
const MAX_FAILURES = 10;
/** Bytes that all leaders together may send ahead. */
const MAX_FETCHED_BYTES = 4 * 1024 * 1024;
const MIN_FETCH_BYTES = 256 * 1024;
const MAX_BATCH_RECORDS = 500;
const MAX_BATCH_BYTES = 1024 * 1024;
/** Bytes that the records of one answer may have once they are unpacked. The rest is fetched again. */
const MAX_UNPACKED_BYTES = 16 * 1024 * 1024;
/** Time after which unpacking lets the rest of the process run. */
const SLICE_MS = 5;
/** End of the year 9999. */
const MAX_TIME = 253_402_300_799_999;

type Read = ReadRecords & { readonly place: ReadPlace };
/** One set of leaders. It ends when leaders, partitions or topics change. */
class Round {
  readonly #over = new AbortController();

  get isOver(): boolean {
    return this.#over.signal.aborted;
  }

  end(): void {
    this.#over.abort();
  }

  /** Ends early with the round. */
  async pause(ms: number): Promise<void> {
    await pause(ms, undefined, { signal: this.#over.signal }).catch(() => undefined);
  }
}

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
  /** Failed fetches in a row, by partition. */
  readonly #failures = new Map<string, number>();
  #position: KafkaPosition | null;
  #last: Promise<unknown> = Promise.resolve();
  #isClosed = false;
  #round = new Round();

  constructor(order: ReadingOrder) {
    this.#order = order;
    this.#position = order.from;
    this.#cluster = new ForeignCluster(order.access, order.target);
  }

  close(): void {
    this.#isClosed = true;
    this.#round.end();
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
    const round = new Round();
    this.#round = round;
    if (this.#isClosed) return;
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
    while (!round.isOver) {
      await round.pause(access.timing.refreshMs);
      if (round.isOver) return;
      this.#report(plan);
      // The fetches of the leaders find missing records.
      const shape = shapeOf(await this.#cluster.metadata(topics));
      if (shape !== plan.shape || this.#denied.size > 0) round.end();
    }
  }

  async #readLeader(round: Round, leader: number, places: readonly ReadPlace[], maxBytes: number): Promise<void> {
    const broker = await this.#cluster.broker(leader);
    const offsets = new Map(places.map((place) => [keyOf(place), place.offset]));
    // A broker fills its answer from the first partition on, so each of them is first in turn.
    const turn = [...places];
    while (!round.isOver) {
      const readable = turn.filter(({ topic }) => !this.#denied.has(topic));
      if (readable.length === 0) return;
      const asked = readable.map((place) => ({ ...place, offset: offsets.get(keyOf(place)) ?? place.offset }));
      const answer = await broker.send(fetchRequest(asked, { maxWaitMs: MAX_WAIT_MS, maxBytes }));
      const whole = answer.parts.filter(({ errorCode }) => errorCode === 0);
      const read = await this.#deliver(asked, whole);
      for (const { place, next } of read) offsets.set(keyOf(place), next);
      const isStuck =
        whole.some(({ bytes }) => bytes.length > 0) && read.every(({ place, next }) => next <= place.offset);
      // The broker would send the same bytes again at once.
      if (isStuck) await round.pause(MAX_WAIT_MS);
      if (!this.#accepts(leader, asked, answer)) {
        await round.pause(this.#order.access.timing.stalePauseMs);
        round.end();
        return;
      }
      const first = turn.shift();
      if (first !== undefined) turn.push(first);
    }
  }

  /** Returns false if metadata has to be read again. Throws if that has not helped a partition several times. */
  #accepts(leader: number, asked: readonly ReadPlace[], { errorCode, parts }: Fetched): boolean {
    const failed = new Map(errorCode === 0 ? [] : [[`The leader ${leader}`, errorCode]]);
    for (const part of parts) {
      const place = asked.find(({ topicId, partition }) => topicId === part.topicId && partition === part.partition);
      if (!place) failed.set(`An unknown partition ${part.partition}`, part.errorCode);
      else if (part.errorCode === CODES.notAuthorized) this.#denied.add(place.topic);
      else if (part.errorCode !== 0) failed.set(keyOf(place), part.errorCode);
      else {
        this.#ends.set(keyOf(place), part.stableOffset);
        this.#failures.delete(keyOf(place));
      }
    }
    for (const [name, code] of failed) {
      const failures = (this.#failures.get(name) ?? 0) + 1;
      this.#failures.set(name, failures);
      if (failures >= MAX_FAILURES)
        throw waiting('unreachable', `${name}: the broker answers with Kafka's error ${code}.`);
    }
    return failed.size === 0;
  }

  /** Unpacks records and hands them over, one answer after the other, so that each leader waits until its records are durable. */
  #deliver(asked: readonly ReadPlace[], parts: readonly FetchedPart[]): Promise<readonly Read[]> {
    const delivered = this.#last.then(async () => {
      const read = await runYielding(readParts(asked, parts));
      await this.#takeAll(read);
      return read;
    });
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
        position = moved(position, place, (record.lastOffset ?? record.offset) + 1, at);
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
      const lagRecords = this.#lagOf(places.filter((place) => place.topic === topic));
      const since = problem === null ? (this.#since.get(topic) ?? null) : null;
      return { table: topic, since, problem, ...(problem === null && lagRecords !== null && { lagRecords }) };
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

function* readParts(asked: readonly ReadPlace[], parts: readonly FetchedPart[]): Coroutine<readonly Read[]> {
  const budget = { left: MAX_UNPACKED_BYTES };
  const read: Read[] = [];
  for (const { topicId, partition, bytes, aborted } of parts) {
    const place = asked.find((one) => one.topicId === topicId && one.partition === partition);
    if (!place || budget.left <= 0) continue;
    read.push({ place, ...(yield* readTopicRecords(bytes, place.offset, aborted, budget)) });
  }
  return read;
}

async function runYielding<Value>(work: Coroutine<Value>): Promise<Value> {
  for (let until = performance.now() + SLICE_MS; ;) {
    const part = work.next();
    if (part.done) return part.value;
    if (performance.now() < until) continue;
    await nextTurn();
    until = performance.now() + SLICE_MS;
  }
}

/** Resolves when all have ended. The first that ends, or fails, ends the round for the others. */
async function endTogether(round: Round, work: readonly Promise<void>[]): Promise<void> {
  const results = await Promise.allSettled(
    work.map((one) =>
      one.catch((error: unknown) => {
        round.end();
        throw error;
      }),
    ),
  );
  const failed = results.filter((result) => result.status === 'rejected').map(({ reason }): unknown => reason);
  const cause = failed.find((reason) => reason instanceof TakeFailed) ?? failed[0];
  if (failed.length > 0) throw cause;
}
