import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import theirResponse from 'kafkajs/src/protocol/requests/fetch/v10/response.js';
import { describe, expect, it } from 'vitest';
import { anyRecord, anyText } from '../../test/records-of-others.ts';
import { ReadyRecord, sizeOfBatch, writeBatch } from '../producing/record-batch.ts';
import { NotPlain, readBatches } from './batch-reader.ts';
import { type FetchAnswer, fromKafkajs, readAnswer } from './fetch-response.ts';

type TheirAnswer = Parameters<typeof fromKafkajs>[0];
const kafkajs = theirResponse as { decode(payload: Buffer): Promise<TheirAnswer> };

type Batch = {
  readonly firstOffset: number;
  readonly time: number;
  readonly attributes: number;
  readonly bytes: Buffer;
};

const ATTRIBUTES = { none: 0, appendTime: 0b1000, control: 0b10_0000, both: 0b10_1000 };

/** A batch as a broker keeps it: it sets the first offset, and attributes that no checksum of ours knows. */
const anyBatch: fc.Arbitrary<Batch> = fc
  .record({
    records: fc.array(anyRecord, { minLength: 1, maxLength: 40 }),
    firstOffset: fc.nat(2 ** 40),
    time: fc.nat(2 ** 42),
    attributes: fc.constantFrom(...Object.values(ATTRIBUTES)),
  })
  .map(({ records, ...rest }) => {
    const ready = records.map(({ key, value, headers }) => new ReadyRecord(0, key, value, headers));
    const bytes = Buffer.alloc(sizeOfBatch(ready));
    writeBatch(bytes, 0, ready, { id: 4n, epoch: 1, firstSequence: 7 }, rest.time);
    bytes.writeBigInt64BE(BigInt(rest.firstOffset), 0);
    bytes.writeInt16BE(rest.attributes, 21);
    // The newest time of the batch, which counts where brokers give the time.
    bytes.writeBigInt64BE(BigInt(rest.time + 5000), 35);
    return { ...rest, bytes };
  });

const anyPartition = fc.record({
  partition: fc.nat(1000),
  errorCode: fc.constantFrom(0, 1, 6),
  highWatermark: fc.nat(2 ** 40),
  aborted: fc.constantFrom(-1, 0, 2),
  batches: fc.array(anyBatch, { maxLength: 3 }),
  /** Bytes of a further batch that did not fit in. */
  cutOff: fc.nat(200),
});

type Partition = typeof anyPartition extends fc.Arbitrary<infer P> ? P : never;

const int16 = (value: number): Buffer => Buffer.from(Int16Array.of(value).buffer).swap16();
const int32 = (value: number): Buffer => Buffer.from(Int32Array.of(value).buffer).swap32();
const int64 = (value: number): Buffer => Buffer.from(BigInt64Array.of(BigInt(value)).buffer).swap64();

function partitionBytes({ partition, errorCode, highWatermark, aborted, batches, cutOff }: Partition): Buffer {
  const whole = batches.map(({ bytes }) => bytes);
  const [first] = whole;
  const records = Buffer.concat([...whole, ...(first ? [first.subarray(0, Math.min(cutOff, first.length - 1))] : [])]);
  return Buffer.concat([
    int32(partition),
    int16(errorCode),
    int64(highWatermark),
    int64(highWatermark),
    int64(0),
    int32(aborted),
    Buffer.alloc(Math.max(0, aborted) * 16, 1),
    int32(records.length),
    records,
  ]);
}

const answerOf = (topics: readonly { readonly topic: string; readonly partitions: readonly Partition[] }[]): Buffer =>
  Buffer.concat([
    int32(250),
    int16(0),
    int32(0),
    int32(topics.length),
    ...topics.flatMap(({ topic, partitions }) => [
      int16(Buffer.byteLength(topic)),
      Buffer.from(topic),
      int32(partitions.length),
      ...partitions.map(partitionBytes),
    ]),
  ]);

const anyAnswer = fc
  .array(fc.record({ topic: anyText, partitions: fc.array(anyPartition, { maxLength: 3 }) }), { maxLength: 2 })
  .map(answerOf);

/** Removes fields of kafkajs that we do not use. */
const essence = ({ clientSideThrottleTime, errorCode, throttleTime, responses }: FetchAnswer) => ({
  throttleTime,
  clientSideThrottleTime,
  errorCode,
  responses: responses.map(({ topicName, partitions }) => ({
    topicName,
    partitions: partitions.map((one) => ({
      partition: one.partition,
      errorCode: one.errorCode,
      highWatermark: one.highWatermark,
      messages: one.messages.map((message) => ({ ...message, value: Buffer.from(message.value).toString('base64') })),
    })),
  })),
});

describe('the parser of Kafka fetch responses', () => {
  it('returns the same records as kafkajs', async () => {
    await fc.assert(
      fc.asyncProperty(anyAnswer, async (payload) => {
        expect(essence(readAnswer(payload))).toEqual(essence(fromKafkajs(await kafkajs.decode(payload))));
      }),
      { numRuns: 60 },
    );
  });

  it('never misreads a response with a changed byte: it parses it, leaves it to kafkajs, or rejects it with a RangeError', () => {
    const told = new Set<string>();
    fc.assert(
      fc.property(anyAnswer, fc.nat(), fc.integer({ min: 1, max: 255 }), (payload, at, change) => {
        const damaged = Buffer.from(payload);
        const place = at % damaged.length;
        damaged[place] = (damaged[place] ?? 0) ^ change;
        try {
          readAnswer(damaged);
          told.add('read');
        } catch (error) {
          told.add(error instanceof NotPlain ? 'left' : (error as Error).name);
        }
      }),
      { numRuns: 400 },
    );
    expect([...told].filter((name) => !['read', 'left', 'RangeError'].includes(name))).toEqual([]);
  });

  it('leaves a compressed batch to kafkajs', async () => {
    const ready = [new ReadyRecord(0, 'key', Buffer.from('value'), { kind: 'event' })];
    const plain = Buffer.alloc(sizeOfBatch(ready));
    writeBatch(plain, 0, ready, { id: 4n, epoch: 1, firstSequence: 0 }, 1000);
    const packed = Buffer.concat([plain.subarray(0, 61), gzipSync(plain.subarray(61))]);
    packed.writeInt32BE(packed.length - 12, 8);
    packed.writeInt16BE(1, 21);
    expect(() => readBatches(packed, 0, packed.length)).toThrow(NotPlain);
    const batches = [{ firstOffset: 0, time: 1000, attributes: 1, bytes: packed }];
    const partition: Partition = { partition: 0, errorCode: 0, highWatermark: 1, aborted: -1, batches, cutOff: 0 };
    const answer = fromKafkajs(await kafkajs.decode(answerOf([{ topic: 'carillon.events', partitions: [partition] }])));
    expect(answer.responses[0]?.partitions[0]?.messages).toEqual([
      {
        offset: 0,
        time: 1000,
        key: 'key',
        value: Buffer.from('value'),
        headers: { kind: 'event' },
        isControlRecord: false,
      },
    ]);
  });

  it('keeps a header named __proto__', () => {
    const ready = [new ReadyRecord(0, 'key', Buffer.from('value'), Object.fromEntries([['__proto__', 'text']]))];
    const bytes = Buffer.alloc(sizeOfBatch(ready));
    writeBatch(bytes, 0, ready, { id: 4n, epoch: 1, firstSequence: 0 }, 1000);
    const [message] = readBatches(bytes, 0, bytes.length);
    expect(Object.entries(message?.headers ?? {})).toEqual([['__proto__', 'text']]);
  });
});
