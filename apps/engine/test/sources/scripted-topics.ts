import type { KafkaPosition, TopicStart } from '@carillon/domain/changes';
import { ok } from '@carillon/kernel';
import type { TopicEnd, TopicHandlers, TopicSources } from '@carillon/ports';

/** An open reader of topics. The test decides which records it reads and how it ends. */
export type OpenedTopics = {
  readonly topics: readonly string[];
  readonly from: KafkaPosition | null;
  readonly handlers: TopicHandlers;
  readonly isClosed: () => boolean;
  end(end: TopicEnd): void;
};

export const offsetAt = (offset: number): KafkaPosition => ({
  kind: 'kafka',
  clusterId: 'bus-1',
  topics: { orders: { id: 'topic-1', partitions: { 0: offset } } },
  at: 1000,
});

/** A Kafka cluster whose behaviour a test scripts. A reader ends with the error of its `take`, as the real one does. */
export function createScriptedTopics() {
  const readers: OpenedTopics[] = [];
  const resets: (readonly [topics: readonly string[], start: TopicStart])[] = [];
  const sources: TopicSources = {
    check: async () => ({ server: null, problems: [], topics: [] }),
    topics: async () => ({ ok: true, value: [] }),
    open(_target, topics, from, handlers) {
      const { promise, resolve } = Promise.withResolvers<TopicEnd>();
      let isClosed = false;
      readers.push({ topics, from, handlers, isClosed: () => isClosed, end: resolve });
      return {
        ended: promise,
        async close() {
          isClosed = true;
          resolve({ kind: 'closed', error: null });
        },
      };
    },
    reset: async (_target, topics, start) => {
      resets.push([topics, start]);
      return ok(offsetAt(9));
    },
  };
  return { readers, resets, load: async (): Promise<TopicSources> => sources };
}
