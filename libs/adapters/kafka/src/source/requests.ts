import { CompactReader, CompactWriter } from './wire.ts';
import type { AbortedTransaction } from './topic-records.ts';

/** A request that kafkajs sends for us, and how its answer is read. */
export type ProtocolRequest<Answer> = {
  readonly request: {
    readonly apiKey: number;
    readonly apiVersion: number;
    readonly apiName: string;
    /** An encoder of kafkajs, as far as kafkajs looks at it. */
    readonly encode: () => Promise<{ readonly buf: Buffer; readonly buffer: Buffer }>;
  };
  readonly response: {
    readonly decode: (payload: Buffer) => Promise<Answer & { readonly clientSideThrottleTime: number }>;
    readonly parse: <Decoded>(answer: Decoded) => Promise<Decoded>;
  };
};

const METADATA = 3;
const FETCH = 1;
/** The first versions with ids of topics in both. Kafka 3.1 speaks them. */
export const NEEDED_VERSIONS: Readonly<Record<number, { readonly name: string; readonly version: number }>> = {
  [FETCH]: { name: 'Fetch', version: 13 },
  [METADATA]: { name: 'Metadata', version: 10 },
};

/** Kafka's numbers of the errors that are told apart. */
export const CODES = {
  offsetOutOfRange: 1,
  unknownTopic: 3,
  invalidTopic: 17,
  notAuthorized: 29,
  unknownTopicId: 100,
} as const;

export type FoundPartition = { readonly partition: number; readonly leader: number; readonly epoch: number };
export type FoundTopic = {
  readonly topic: string;
  readonly id: string | null;
  readonly errorCode: number;
  readonly isInternal: boolean;
  readonly partitions: readonly FoundPartition[];
};
export type Metadata = {
  readonly brokers: readonly { readonly nodeId: number; readonly host: string; readonly port: number }[];
  readonly clusterId: string;
  readonly topics: readonly FoundTopic[];
};

/** Asks for the brokers and these topics, or all. Never makes a topic. */
export function metadataRequest(topics: readonly string[] | null): ProtocolRequest<Metadata> {
  return requestOf(METADATA, 'Metadata', {
    write(writer) {
      writer.list(topics, (topic) => writer.uuid(null).text(topic).noTags());
      // Neither make topics nor list who may do what.
      writer.int8(0).int8(0).int8(0).noTags();
    },
    read(reader) {
      const brokers = reader.list(() => {
        const broker = { nodeId: reader.int32(), host: reader.text() ?? '', port: reader.int32() };
        reader.text();
        reader.skipTags();
        return broker;
      });
      const clusterId = reader.text() ?? '';
      reader.int32();
      return { brokers, clusterId, topics: reader.list(() => readTopic(reader)) };
    },
  });
}

function readTopic(reader: CompactReader): FoundTopic {
  const errorCode = reader.int16();
  const topic = reader.text() ?? '';
  const id = reader.uuid();
  const isInternal = reader.int8() !== 0;
  const partitions = reader.list(() => {
    reader.int16();
    const partition = { partition: reader.int32(), leader: reader.int32(), epoch: reader.int32() };
    for (let copies = 0; copies < 3; copies += 1) reader.list(() => reader.int32());
    reader.skipTags();
    return partition;
  });
  reader.int32();
  reader.skipTags();
  return { topic, id, errorCode, isInternal, partitions };
}

export type FetchedPart = {
  readonly topicId: string | null;
  readonly partition: number;
  readonly errorCode: number;
  readonly highWatermark: number;
  /** Behind the last record of which it is known whether it was committed. */
  readonly stableOffset: number;
  readonly aborted: readonly AbortedTransaction[];
  /** Batches, the last of which may be cut off. */
  readonly bytes: Buffer;
};
export type Fetched = { readonly errorCode: number; readonly parts: readonly FetchedPart[] };

export type FetchPlace = {
  readonly topicId: string;
  readonly partition: number;
  readonly epoch: number;
  readonly offset: number;
};

const READ_COMMITTED = 1;

/** Asks a leader for committed records. A topic of another id under the same name is refused by the broker. */
export function fetchRequest(
  places: readonly FetchPlace[],
  { maxWaitMs, maxBytes }: { readonly maxWaitMs: number; readonly maxBytes: number },
): ProtocolRequest<Fetched> {
  return requestOf(FETCH, 'Fetch', {
    write(writer) {
      // Neither a copy of a partition nor a session of fetches.
      writer.int32(-1).int32(maxWaitMs).int32(1).int32(maxBytes).int8(READ_COMMITTED).int32(0).int32(-1);
      writer.list([...Map.groupBy(places, ({ topicId }) => topicId)], ([topicId, partitions]) => {
        writer.uuid(topicId).list(partitions, ({ partition, epoch, offset }) => {
          writer.int32(partition).int32(epoch).int64(offset).int32(-1).int64(-1).int32(maxBytes).noTags();
        });
        writer.noTags();
      });
      writer.list([], () => undefined).text('');
      writer.noTags();
    },
    read(reader) {
      const errorCode = reader.int16();
      reader.int32();
      const parts = reader.list(() => {
        const topicId = reader.uuid();
        const found = reader.list(() => ({ topicId, ...readPart(reader) }));
        reader.skipTags();
        return found;
      });
      return { errorCode, parts: parts.flat() };
    },
  });
}

function readPart(reader: CompactReader): Omit<FetchedPart, 'topicId'> {
  const partition = reader.int32();
  const errorCode = reader.int16();
  const highWatermark = reader.int64();
  const stableOffset = reader.int64();
  reader.int64();
  const aborted = reader.list(() => {
    const transaction = { producerId: reader.int64(), firstOffset: reader.int64() };
    reader.skipTags();
    return transaction;
  });
  reader.int32();
  const bytes = reader.blob();
  reader.skipTags();
  return { partition, errorCode, highWatermark, stableOffset, aborted, bytes };
}

function requestOf<Answer extends object>(
  apiKey: number,
  apiName: string,
  {
    write,
    read,
  }: { readonly write: (writer: CompactWriter) => void; readonly read: (reader: CompactReader) => Answer },
): ProtocolRequest<Answer> {
  return {
    request: {
      apiKey,
      apiName,
      apiVersion: NEEDED_VERSIONS[apiKey]?.version ?? 0,
      // kafkajs writes the header of an older form, which ends without tagged fields.
      encode: async () => {
        const writer = new CompactWriter().noTags();
        write(writer);
        const buffer = writer.bytes();
        return { buf: buffer, buffer };
      },
    },
    response: {
      async decode(payload) {
        const reader = new CompactReader(payload);
        reader.skipTags();
        const clientSideThrottleTime = reader.int32();
        return { ...read(reader), clientSideThrottleTime };
      },
      parse: async (answer) => answer,
    },
  };
}
