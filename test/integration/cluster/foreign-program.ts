import { Kafka, logLevel, type Admin } from 'kafkajs';

/** What another program might do to the topics: here it is the one that knows nothing of Carillon. */
export type ForeignProgram = {
  readonly admin: Admin;
  write(topic: string, partition: number, value: Uint8Array, headers?: Readonly<Record<string, string>>): Promise<void>;
  leave(): Promise<void>;
};

export async function connectForeignProgram(brokers: readonly string[]): Promise<ForeignProgram> {
  const kafka = new Kafka({ clientId: 'foreign', brokers: [...brokers], logLevel: logLevel.NOTHING });
  const admin = kafka.admin();
  const producer = kafka.producer({ allowAutoTopicCreation: false });
  await Promise.all([admin.connect(), producer.connect()]);
  return {
    admin,
    async write(topic, partition, value, headers = {}) {
      await producer.send({ topic, messages: [{ key: 'foreign', partition, value: Buffer.from(value), headers }] });
    },
    async leave() {
      await Promise.all([admin.disconnect(), producer.disconnect()]);
    },
  };
}
