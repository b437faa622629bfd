import { Kafka, logLevel, type Message } from 'kafkajs';

type RawProducer = {
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
