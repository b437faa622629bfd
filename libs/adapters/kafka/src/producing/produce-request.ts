import produceDefinition from 'kafkajs/src/protocol/requests/produce/index.js';
import { changeRequests, type RequestKind } from '../connection/changed-requests.ts';
import { type BatchProducer, ReadyRecord, sizeOfBatch, writeBatch } from './record-batch.ts';

type PartitionData = {
  readonly partition: number | string;
  readonly messages: readonly unknown[];
  readonly firstSequence: number;
};

/** What kafkajs hands to its encoder. */
export type ProduceArguments = {
  readonly acks: number;
  readonly timeout: number;
  readonly compression?: number;
  readonly transactionalId?: string | null;
  readonly producerId: string | number | bigint | { toString(): string };
  readonly producerEpoch: number;
  readonly topicData: readonly { readonly topic: string; readonly partitions: readonly PartitionData[] }[];
};

/** Encoder type that kafkajs expects: it copies `buffer` after the request header. */
type Encoded = { readonly buf: Buffer; readonly buffer: Buffer };
type Made = { readonly request: { readonly encode: () => Promise<unknown> } };

/** The first version that takes batches of this form. Our brokers speak newer ones. */
const TAKES_BATCHES = 3;

/** The body of a produce request, versions 3 to 7. */
export function encodeProduce(
  { acks, timeout, producerId, producerEpoch, topicData }: ProduceArguments,
  now: number,
): Buffer {
  const id = BigInt(producerId.toString());
  const topics = topicData.map(({ topic, partitions }) => ({
    name: Buffer.from(topic),
    partitions: partitions.map(({ partition, messages, firstSequence }) => {
      const records = messages as readonly ReadyRecord[];
      return { partition: Number(partition), records, firstSequence, bytes: sizeOfBatch(records) };
    }),
  }));
  const size = topics.reduce(
    (sum, { name, partitions }) => partitions.reduce((all, { bytes }) => all + 8 + bytes, sum + 2 + name.length + 4),
    2 + 2 + 4 + 4,
  );
  const body = Buffer.allocUnsafe(size);
  // No transaction.
  let at = body.writeInt16BE(-1, 0);
  at = body.writeInt16BE(acks, at);
  at = body.writeInt32BE(timeout, at);
  at = body.writeInt32BE(topics.length, at);
  for (const { name, partitions } of topics) {
    at = body.writeInt16BE(name.length, at);
    at += name.copy(body, at);
    at = body.writeInt32BE(partitions.length, at);
    for (const { partition, records, firstSequence, bytes } of partitions) {
      const producer: BatchProducer = { id, epoch: producerEpoch, firstSequence };
      at = body.writeInt32BE(partition, at);
      at = body.writeInt32BE(bytes, at);
      at = writeBatch(body, at, records, producer, now);
    }
  }
  return body;
}

const isReady = ({ topicData }: ProduceArguments): boolean =>
  topicData.every(({ partitions }) =>
    partitions.every(({ messages }) => messages.every((message) => message instanceof ReadyRecord)),
  );

/** Makes kafkajs send requests of `ReadyRecord`s with our encoder. All other requests use its own encoder. */
export function sendReadyRecords(): void {
  changeRequests(produceDefinition as RequestKind<ProduceArguments, Made>, (made, args, version) => {
    if (!isReady(args)) return made;
    if (version < TAKES_BATCHES || args.compression || args.transactionalId) {
      throw new Error('ready records go uncompressed, without a transaction, to a broker of Kafka 0.11 or newer');
    }
    const encode = async (): Promise<Encoded> => {
      const body = encodeProduce(args, Date.now());
      return { buf: body, buffer: body };
    };
    return { ...made, request: { ...made.request, encode } };
  });
}
