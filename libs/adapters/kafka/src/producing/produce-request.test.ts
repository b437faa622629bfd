import fc from 'fast-check';
import crcOfKafkajs from 'kafkajs/src/protocol/recordBatch/crc32C/crc32C.js';
import requestOfKafkajs from 'kafkajs/src/protocol/requests/produce/v7/request.js';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { anyBytes, anyRecord, anyText } from '../../test/records-of-others.ts';
import { crc32c } from './crc32c.ts';
import { encodeProduce, type ProduceArguments } from './produce-request.ts';
import { ReadyRecord } from './record-batch.ts';

const crcReference = crcOfKafkajs as (bytes: Buffer) => number;
const requestReference = requestOfKafkajs as (args: ProduceArguments) => { encode(): Promise<{ buffer: Buffer }> };

const partition = fc.record({
  partition: fc.nat(10_000),
  firstSequence: fc.nat(2 ** 31 - 1),
  messages: fc.array(anyRecord, { minLength: 1, maxLength: 150 }),
});
const request = fc.record({
  producerId: fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }).map(String),
  producerEpoch: fc.nat(32_767),
  timeout: fc.nat(60_000),
  topics: fc.array(fc.record({ topic: anyText, partitions: fc.array(partition, { minLength: 1, maxLength: 3 }) }), {
    minLength: 1,
    maxLength: 3,
  }),
});

describe('the bytes of a produce request to Kafka', () => {
  afterEach(() => void vi.useRealTimers());

  it('are the same as those that kafkajs makes of the same records', async () => {
    vi.useFakeTimers({ now: 1_800_000_000_123, toFake: ['Date'] });
    await fc.assert(
      fc.asyncProperty(request, async ({ topics, ...rest }) => {
        const args = { ...rest, acks: -1 };
        const ready = topics.map(({ topic, partitions }) => ({
          topic,
          partitions: partitions.map((one) => ({
            ...one,
            messages: one.messages.map(
              ({ key, value, headers }) => new ReadyRecord(one.partition, key, value, headers),
            ),
          })),
        }));
        const expected = await requestReference({ ...args, topicData: topics }).encode();
        expect(encodeProduce({ ...args, topicData: ready }, Date.now()).equals(expected.buffer)).toBe(true);
      }),
      { numRuns: 60 },
    );
  });

  it('have the checksum that kafkajs computes, over any range of bytes', () => {
    fc.assert(
      fc.property(anyBytes, fc.nat(), fc.nat(), (value, one, other) => {
        const [from, to] = [one % (value.length + 1), other % (value.length + 1)].toSorted((a, b) => a - b) as [
          number,
          number,
        ];
        expect(crc32c(value, from, to)).toBe(crcReference(value.subarray(from, to)));
      }),
    );
    // The check value that every description of the algorithm gives.
    expect(crc32c(Buffer.from('123456789'), 0, 9)).toBe(0xe3_06_92_83);
  });

  it('have the value that a record had when it was handed over, even if it is changed later', () => {
    const value = Buffer.from('before');
    const record = new ReadyRecord(0, 'k', value, {});
    const was = Buffer.from(record.tail);
    value.write('after.');
    expect(record.tail.equals(was)).toBe(true);
  });
});
