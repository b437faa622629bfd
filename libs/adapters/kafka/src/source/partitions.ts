import type { KafkaPosition, SourceProblem, TableReason } from '@carillon/domain/changes';
import { stopped, waiting } from './failures.ts';
import { END, OLDEST, type ForeignCluster, type PlacedOffset } from './foreign-cluster.ts';
import { CODES, type FetchPlace, type FoundTopic, type Metadata } from './requests.ts';

/** A partition that is read from its leader. The offset is that of the next record. */
export type ReadPlace = FetchPlace & { readonly topic: string; readonly leader: number };

/** What is read, and from where on. */
export type Plan = {
  readonly position: KafkaPosition;
  readonly places: readonly ReadPlace[];
  /** Topics that are not read, or in part. */
  readonly problems: ReadonlyMap<string, SourceProblem<TableReason>>;
  /** Topics of the source without a stored position. */
  readonly named: readonly string[];
  /** Shape of the metadata that it was made from. */
  readonly shape: string;
};

type TopicPositions = Record<string, { id: string | null; partitions: Record<string, number> }>;

/**
 * Returns where the partitions of topics are read on. A topic that the position does not know begins at its end, a partition at its
 * oldest record. Rejects with TopicFailure `stopped` if records are missing between the position and the topics.
 */
export async function planReading(
  cluster: ForeignCluster,
  topics: readonly string[],
  from: KafkaPosition | null,
  now: number,
): Promise<Plan> {
  const metadata = await cluster.metadata(topics);
  const { clusterId } = metadata;
  if (from !== null && from.clusterId !== clusterId) {
    throw stopped('other_database', `The id of the cluster is ${clusterId} instead of ${from.clusterId}.`);
  }
  const problems = problemsOf(metadata, topics);
  const found = readableTopics(metadata, topics, problems);
  refuseMadeAgain(found, from);
  const positions: TopicPositions = {};
  for (const topic of topics) {
    const known = knownTopic(from, topic);
    if (known) positions[topic] = { id: known.id, partitions: { ...known.partitions } };
    else if (problems.get(topic)?.reason === 'no_topic') positions[topic] = { id: null, partitions: {} };
  }
  const named = topics.filter((topic) => knownTopic(from, topic) === null);
  const isNew = ({ topic }: FoundTopic): boolean => named.includes(topic);
  const [ends, oldest, newEnds] = await Promise.all([
    cluster.offsets(led(found, isNew), END, false),
    cluster.offsets(led(found, isNew), OLDEST),
    cluster.offsets(found.filter(isNew), END),
  ]);
  refuseGaps(positions, oldest, ends);
  for (const { topic, id } of found) positions[topic] = { id, partitions: positions[topic]?.partitions ?? {} };
  for (const { topic, partition, offset } of [...newEnds, ...oldest]) {
    const read = positions[topic];
    if (read) read.partitions[partition] ??= offset;
  }
  for (const { topic, partitions } of found) {
    const leaderless = partitions.filter(({ leader }) => leader < 0).map(({ partition }) => partition);
    if (leaderless.length > 0) problems.set(topic, noLeader(leaderless));
  }
  const at = from?.at ?? now;
  const position: KafkaPosition = { kind: 'kafka', clusterId, topics: positions, at };
  return { position, places: placesOf(found, positions), problems, named, shape: shapeOf(metadata) };
}

/** Equal for metadata by which the same leaders are asked for the same partitions. */
export function shapeOf({ clusterId, topics }: Metadata): string {
  const shapes = topics.flatMap(({ topic, id, errorCode, partitions }) => [
    JSON.stringify([topic, id, errorCode]),
    ...partitions.map(({ partition, leader, epoch }) => JSON.stringify([topic, partition, leader, epoch])),
  ]);
  return [clusterId, ...shapes.toSorted()].join(' ');
}

/** Partitions that have a leader. Those of a new topic need theirs, because nobody could tell later where its end was. */
const led = (topics: readonly FoundTopic[], isNew: (topic: FoundTopic) => boolean): readonly FoundTopic[] =>
  topics
    .filter((topic) => !isNew(topic))
    .map((topic) => ({ ...topic, partitions: topic.partitions.filter(({ leader }) => leader >= 0) }));

const knownTopic = (from: KafkaPosition | null, topic: string) =>
  from !== null && Object.hasOwn(from.topics, topic) ? (from.topics[topic] ?? null) : null;

/** Returns true for a topic of Carillon, which may hold the events of every workspace. */
export const isOwnTopic = (topic: string): boolean => topic.startsWith('carillon.');

/** Returns why topics cannot be read. */
export function problemsOf(
  { topics: found }: Metadata,
  topics: readonly string[],
): Map<string, SourceProblem<TableReason>> {
  const problems = new Map<string, SourceProblem<TableReason>>();
  for (const topic of topics) {
    const code = found.find((one) => one.topic === topic)?.errorCode ?? CODES.unknownTopic;
    // The configuration refuses it before.
    if (isOwnTopic(topic)) {
      problems.set(topic, { reason: 'may_not_read', detail: 'Carillon uses this topic itself', fix: null });
      continue;
    }
    if (code === CODES.unknownTopic) problems.set(topic, { reason: 'no_topic', detail: null, fix: null });
    if (code === CODES.notAuthorized) problems.set(topic, mayNotRead(topic));
    if (code === CODES.invalidTopic)
      problems.set(topic, { reason: 'no_topic', detail: 'Kafka does not allow this topic name', fix: null });
  }
  return problems;
}

/** Partitions that a text names. */
const MAX_NAMED = 20;

function noLeader(partitions: readonly number[]): SourceProblem<TableReason> {
  const more = partitions.length - MAX_NAMED;
  const named = partitions.slice(0, MAX_NAMED).join(', ');
  const detail = `${partitions.length === 1 ? 'partition' : 'partitions'} ${named}${more > 0 ? ` and ${more} more` : ''}`;
  return { reason: 'no_leader', detail, fix: null };
}

export const mayNotRead = (topic: string): SourceProblem<TableReason> => ({
  reason: 'may_not_read',
  detail: null,
  fix: `kafka-acls --add --allow-principal User:NAME --operation Describe --operation Read --topic '${topic}'`,
});

/** Returns the topics without a problem. Throws if metadata does not say where they are. */
export function readableTopics(
  { topics: found }: Metadata,
  topics: readonly string[],
  problems: ReadonlyMap<string, unknown>,
): readonly FoundTopic[] {
  const readable = found.filter(({ topic }) => topics.includes(topic) && !problems.has(topic));
  if (readable.some(({ errorCode, id }) => errorCode !== 0 || id === null)) {
    throw waiting('unreachable', 'A topic has no leader now.');
  }
  return readable;
}

function refuseMadeAgain(found: readonly FoundTopic[], from: KafkaPosition | null): void {
  const again = found.find(({ topic, id }) => {
    const known = knownTopic(from, topic)?.id ?? null;
    return known !== null && known !== id;
  });
  if (again) throw stopped('topic_made_again', `It is ${again.topic}.`);
}

function refuseGaps(positions: TopicPositions, oldest: readonly PlacedOffset[], ends: readonly PlacedOffset[]): void {
  const savedAt = ({ topic, partition }: PlacedOffset): number | undefined => positions[topic]?.partitions[partition];
  for (const end of ends) {
    const saved = savedAt(end);
    if (saved === undefined || saved <= end.offset) continue;
    throw stopped('went_back', `${end.topic}/${end.partition} ends at ${end.offset}, and ${saved} was next.`);
  }
  for (const start of oldest) {
    const saved = savedAt(start);
    if (saved === undefined || saved >= start.offset) continue;
    throw stopped(
      'records_gone',
      `${start.topic}/${start.partition} begins at ${start.offset}, and ${saved} was next.`,
    );
  }
}

const placesOf = (found: readonly FoundTopic[], positions: TopicPositions): readonly ReadPlace[] =>
  found.flatMap(({ topic, id, partitions }) =>
    partitions.flatMap(({ partition, leader, epoch }) => {
      const offset = positions[topic]?.partitions[partition];
      return id === null || leader < 0 || offset === undefined
        ? []
        : [{ topic, topicId: id, partition, leader, epoch, offset }];
    }),
  );
