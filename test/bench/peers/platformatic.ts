import { Producer, stringSerializer } from '@platformatic/kafka';

export type PlatformaticMessage = {
  readonly key: string;
  readonly value: Buffer;
  readonly partition: number;
  readonly headers: Record<string, string>;
};

/** @platformatic/kafka by itself: idempotent, acknowledged by all replicas. */
export function connectPlatformatic(brokers: readonly string[], topic: string) {
  const producer = new Producer<string, Buffer, string, string>({
    clientId: 'carillon-bench',
    bootstrapBrokers: [...brokers],
    idempotent: true,
    acks: -1,
    autocreateTopics: false,
    serializers: { key: stringSerializer, headerKey: stringSerializer, headerValue: stringSerializer },
  });
  return {
    send: async (messages: readonly PlatformaticMessage[]): Promise<void> => {
      await producer.send({ messages: messages.map((message) => ({ ...message, topic })) });
    },
    disconnect: () => producer.close(),
  };
}
