import { Kafka, logLevel, type Message } from 'kafkajs';

export type RawProducer = {
  readonly send: (messages: Message[]) => Promise<void>;
  readonly disconnect: () => Promise<void>;
};

/** kafkajs by itself: idempotent, acknowledged by all replicas. One `send` may be open at a time. */
export async function connectKafkajs(brokers: readonly string[], topic: string): Promise<RawProducer> {
  const kafka = new Kafka({ clientId: 'carillon-bench', brokers: [...brokers], logLevel: logLevel.ERROR });
  const producer = kafka.producer({ idempotent: true, maxInFlightRequests: 1, allowAutoTopicCreation: false });
  await producer.connect();
  return {
    async send(messages) {
      await producer.send({ topic, acks: -1, messages });
    },
    disconnect: () => producer.disconnect(),
  };
}

/** The least that batches: what comes while a `send` is open goes with the next one. */
export function batching({ send }: RawProducer): (message: Message) => Promise<void> {
  type Waiting = { readonly message: Message; readonly done: () => void; readonly failed: (error: unknown) => void };
  let waiting: Waiting[] = [];
  let sending = false;

  async function run(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      try {
        await send(batch.map(({ message }) => message));
        for (const { done } of batch) done();
      } catch (error) {
        for (const { failed } of batch) failed(error);
      }
    }
    sending = false;
  }
  return (message) =>
    new Promise((done, failed) => {
      waiting.push({ message, done, failed });
      if (sending) return;
      sending = true;
      setImmediate(() => void run());
    });
}
