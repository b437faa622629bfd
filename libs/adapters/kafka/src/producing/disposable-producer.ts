import type { Producer, RetryOptions } from 'kafkajs';
import type { TopicName } from '@carillon/ports';
import { createClient, type KafkaClient } from '../connection/client.ts';
import type { KafkaConnection } from '../connection/options.ts';
import { sendReadyRecords } from './produce-request.ts';
import type { ReadyRecord } from './record-batch.ts';

/**
 * Quick and many: a repetition within one open `send` keeps its sequence number, so the broker knows it for one. Their
 * sum is about 15 s; the lane's deadline ends a producer before that.
 */
const WITHIN_SEND: RetryOptions = {
  initialRetryTime: 15,
  maxRetryTime: 250,
  multiplier: 1.5,
  factor: 0.2,
  retries: 60,
};

export type Appended = { readonly topic: string; readonly partition: number; readonly first: number };

/** A producer for as long as nothing went wrong. One `send` at a time. */
export type DisposableProducer = {
  connect(): Promise<void>;
  /** Where the first record of each partition came to stand. A partition that is missing was not sent. */
  send(messages: ReadonlyMap<TopicName, readonly ReadyRecord[]>): Promise<readonly Appended[]>;
  /** Cuts its connections, so that nothing it still holds can reach a broker. */
  discard(): void;
};

/**
 * kafkajs 2.2.4 gives the sequence number of a rejected send to whatever is sent next, and the broker then confirms that
 * without storing it. So a producer that rejected once is never used again.
 */
export function createDisposableProducer(
  connection: KafkaConnection,
  retry: RetryOptions = WITHIN_SEND,
): DisposableProducer {
  sendReadyRecords();
  const client: KafkaClient = createClient(connection, retry);
  const producer: Producer = client.kafka.producer({
    idempotent: true,
    maxInFlightRequests: 1,
    allowAutoTopicCreation: false,
    createPartitioner: () => (choice) => choice.message.partition ?? 0,
    retry,
  });
  const timeout = client.settings.requestTimeout;
  return {
    connect: () => producer.connect(),
    async send(messages) {
      const topicMessages = [...messages].map(([topic, list]) => ({ topic, messages: [...list] }));
      const results = await producer.sendBatch({ acks: -1, timeout, topicMessages });
      return results.flatMap(({ topicName, partition, errorCode, baseOffset }) => {
        const first = Number(baseOffset ?? -1);
        return errorCode === 0 && first >= 0 ? [{ topic: topicName, partition, first }] : [];
      });
    },
    discard: () => client.cut(),
  };
}
