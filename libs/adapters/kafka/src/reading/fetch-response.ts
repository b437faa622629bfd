import fetchDefinition from 'kafkajs/src/protocol/requests/fetch/index.js';
import { changeRequests, type RequestKind } from '../connection/changed-requests.ts';
import { type FetchedMessage, NotPlain, readBatches, readInt64 } from './batch-reader.ts';

/** A partition in a fetch request. Responses to such requests are parsed here, all others by kafkajs. */
export class WantedRecords {
  readonly partition: number;
  readonly fetchOffset: string;
  readonly maxBytes: number;
  constructor(partition: number, from: number, maxBytes: number) {
    this.partition = partition;
    this.fetchOffset = String(from);
    this.maxBytes = maxBytes;
  }
}

export type FetchedPartition = {
  readonly partition: number;
  readonly errorCode: number;
  readonly highWatermark: number;
  readonly messages: readonly FetchedMessage[];
};
export type FetchAnswer = {
  /** kafkajs waits by the other one. */
  readonly throttleTime: 0;
  readonly clientSideThrottleTime: number;
  readonly errorCode: number;
  readonly responses: readonly { readonly topicName: string; readonly partitions: readonly FetchedPartition[] }[];
};

type Text = Buffer | string | null | undefined;
/** A record as kafkajs reads it. */
type TheirMessage = {
  readonly offset: string;
  readonly timestamp: string;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: Readonly<Record<string, Text | readonly Text[]>>;
  readonly isControlRecord: boolean;
};
type TheirPartition = Omit<FetchedPartition, 'messages' | 'highWatermark'> & {
  readonly highWatermark: string;
  readonly messages: readonly TheirMessage[];
};
type TheirAnswer = Omit<FetchAnswer, 'responses'> & {
  readonly responses: readonly { readonly topicName: string; readonly partitions: readonly TheirPartition[] }[];
};

type FetchArguments = { readonly topics: readonly { readonly partitions: readonly unknown[] }[] };
type Protocol = {
  readonly request: unknown;
  readonly response: {
    readonly decode: (payload: Buffer) => Promise<TheirAnswer | FetchAnswer>;
    readonly parse: unknown;
  };
};

/** The version that is asked for (`fetchFromLeadersOnly`), and two before it whose answers have the same form. */
const READ_HERE: ReadonlySet<number> = new Set([8, 9, 10]);

/** Walks along the answer. */
function createCursor(bytes: Buffer) {
  let at = 0;
  const int32 = (): number => bytes.readInt32BE((at += 4) - 4);
  const int16 = (): number => bytes.readInt16BE((at += 2) - 2);
  const int64 = (): number => readInt64(bytes, (at += 8) - 8);
  return {
    int16,
    int32,
    int64,
    text: (): string => {
      const size = int16();
      at += Math.max(0, size);
      return bytes.toString('utf8', at - Math.max(0, size), at);
    },
    /** As many as are announced; of nothing at all there are -1. */
    list: <Item>(read: () => Item): Item[] => Array.from({ length: Math.max(0, int32()) }, read),
    batches: (): FetchedMessage[] => {
      const size = int32();
      if (size <= 0 || at + size > bytes.length) return [];
      at += size;
      return readBatches(bytes, at - size, at);
    },
  };
}

/**
 * The answer to a fetch of version 8 to 10.
 *
 * @throws NotPlain where a batch in it is left to kafkajs; RangeError where it cannot be read.
 */
export function readAnswer(payload: Buffer): FetchAnswer {
  const { int16, int32, int64, text, list, batches } = createCursor(payload);
  const clientSideThrottleTime = int32();
  const errorCode = int16();
  // The id of a session of fetches: there is none.
  int32();
  const responses = list(() => ({
    topicName: text(),
    partitions: list((): FetchedPartition => {
      const partition = int32();
      const error = int16();
      const highWatermark = int64();
      // The last stable offset, and where the log starts; then transactions that were given up.
      int64();
      int64();
      list(() => [int64(), int64()]);
      return { partition, errorCode: error, highWatermark, messages: batches() };
    }),
  }));
  return { throttleTime: 0, clientSideThrottleTime, errorCode, responses };
}

const textOf = (value: Text): string => (Buffer.isBuffer(value) ? value.toString('utf8') : (value ?? ''));

/** Converts a response that kafkajs parsed to the form of our own parser. */
export function fromKafkajs({ responses, ...rest }: TheirAnswer): FetchAnswer {
  const messageOf = (message: TheirMessage): FetchedMessage => ({
    offset: Number(message.offset),
    time: Number(message.timestamp),
    key: textOf(message.key),
    value: message.value ?? new Uint8Array(),
    headers: Object.fromEntries(
      Object.entries(message.headers).map(([name, value]) => [
        name,
        textOf(Array.isArray(value) ? (value as readonly Text[]).at(-1) : (value as Text)),
      ]),
    ),
    isControlRecord: message.isControlRecord,
  });
  return {
    ...rest,
    responses: responses.map(({ topicName, partitions }) => ({
      topicName,
      partitions: partitions.map(({ messages, highWatermark, ...partition }) => ({
        ...partition,
        highWatermark: Number(highWatermark),
        messages: messages.map(messageOf),
      })),
    })),
  };
}

/** Installs the parser for fetches of `WantedRecords`. */
export function readWantedRecords(): void {
  changeRequests(fetchDefinition as RequestKind<FetchArguments, Protocol>, (made, { topics }, version) => {
    const isOurs = topics.every(({ partitions }) => partitions.every((one) => one instanceof WantedRecords));
    if (!isOurs) return made;
    const { decode } = made.response;
    const theirs = async (payload: Buffer): Promise<FetchAnswer> => fromKafkajs((await decode(payload)) as TheirAnswer);
    const read = async (payload: Buffer): Promise<FetchAnswer> => {
      if (!READ_HERE.has(version)) return theirs(payload);
      try {
        return readAnswer(payload);
      } catch (error) {
        if (error instanceof NotPlain) return theirs(payload);
        throw error;
      }
    };
    return { ...made, response: { ...made.response, decode: read } };
  });
}
