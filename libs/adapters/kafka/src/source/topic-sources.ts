import type { KafkaPosition, TopicPosition, TopicStart } from '@carillon/domain/changes';
import { err, ok, type Result } from '@carillon/kernel';
import type { AddressGuard, SourceTopic, TopicCheck, TopicSources, TopicTarget } from '@carillon/ports';
import { TopicFailure, type WaitingProblem } from './failures.ts';
import { END, ForeignCluster, OLDEST, type Access } from './foreign-cluster.ts';
import { isOwnTopic, problemsOf, readableTopics } from './partitions.ts';
import type { Metadata } from './requests.ts';
import { openTopicReader } from './topic-reader.ts';

export type TopicSourcesOptions = {
  /** Decides which addresses may be connected to. */
  readonly guard: AddressGuard;
  /** Shorter times for tests. */
  readonly timing?: Partial<Access['timing']>;
};

const DEFAULT_TIMING: Access['timing'] = { connectMs: 10_000, answerMs: 30_000, refreshMs: 5_000, stalePauseMs: 200 };
const MAX_TOPICS = 1_000;

/** Reads topics that other programs write, from Kafka 3.1 on. */
export function createTopicSources({ guard, timing }: TopicSourcesOptions): TopicSources {
  const access: Access = { guard, timing: { ...DEFAULT_TIMING, ...timing } };
  return {
    check: (target, topics, signal) => checkCluster(access, target, topics, signal),
    topics: (target, signal) =>
      withCluster(access, target, async (cluster) => listTopics(await cluster.metadata(null)), signal),
    open: (target, topics, from, handlers) => openTopicReader({ access, target, topics, from, handlers }),
    reset: (target, topics, start) => withCluster(access, target, (cluster) => positionAt(cluster, topics, start)),
  };
}

/** Runs work on connections of its own, which end when `signal` aborts. A failure becomes the state that it leads to. */
async function withCluster<Value>(
  access: Access,
  target: TopicTarget,
  work: (cluster: ForeignCluster) => Promise<Value>,
  signal?: AbortSignal,
): Promise<Result<Value, WaitingProblem>> {
  const cluster = new ForeignCluster(access, target);
  const close = (): void => cluster.close();
  signal?.addEventListener('abort', close, { once: true });
  if (signal?.aborted) close();
  try {
    return ok(await work(cluster));
  } catch (error) {
    if (!(error instanceof TopicFailure) || error.failure.kind !== 'waiting') throw error;
    const { reason, detail, fix } = error.failure;
    return err({ reason, detail, fix });
  } finally {
    signal?.removeEventListener('abort', close);
    close();
  }
}

/** Connects to every broker, because each of them may lead a partition. */
async function checkCluster(
  access: Access,
  target: TopicTarget,
  topics: readonly string[],
  signal?: AbortSignal,
): Promise<TopicCheck> {
  const look = async (cluster: ForeignCluster): Promise<Metadata> => {
    const metadata = await cluster.metadata(topics);
    for (const { nodeId } of metadata.brokers) await cluster.broker(nodeId);
    return metadata;
  };
  const looked = await withCluster(access, target, look, signal);
  if (!looked.ok) return { server: null, problems: [looked.error], topics: [] };
  const problems = problemsOf(looked.value, topics);
  const { length } = looked.value.brokers;
  return {
    server: length === 1 ? 'Kafka with 1 broker' : `Kafka with ${length} brokers`,
    problems: [],
    topics: topics.map((topic) => ({
      topic,
      partitions: looked.value.topics.find((one) => one.topic === topic)?.partitions.length ?? 0,
      problem: problems.get(topic) ?? null,
    })),
  };
}

const listTopics = ({ topics }: Metadata): readonly SourceTopic[] =>
  topics
    .filter(({ topic, isInternal }) => !isInternal && !topic.startsWith('__') && !isOwnTopic(topic))
    .map(({ topic, partitions }) => ({ topic, partitions: partitions.length, problem: null }))
    .toSorted((one, other) => (one.topic < other.topic ? -1 : 1))
    .slice(0, MAX_TOPICS);

async function positionAt(
  cluster: ForeignCluster,
  topics: readonly string[],
  start: TopicStart,
): Promise<KafkaPosition> {
  const metadata = await cluster.metadata(topics);
  const problems = problemsOf(metadata, topics);
  const readable = readableTopics(metadata, topics, problems);
  const offsets = await cluster.offsets(readable, start === 'end' ? END : OLDEST);
  const positions: Record<string, TopicPosition> = {};
  for (const { topic, id } of readable) {
    const of = offsets.filter((one) => one.topic === topic).map(({ partition, offset }) => [partition, offset]);
    positions[topic] = { id, partitions: Object.fromEntries(of) as Record<string, number> };
  }
  for (const [topic, { reason }] of problems) {
    // Nobody may say yet where a topic ends that may not be read. A position that does not know it begins at its end.
    if (reason === 'no_topic' || start === 'oldest') positions[topic] = { id: null, partitions: {} };
  }
  const at = start === 'end' ? Date.now() : 0;
  return { kind: 'kafka', clusterId: metadata.clusterId, topics: positions, at };
}
