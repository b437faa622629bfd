import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fetchRequest, metadataRequest } from './requests.ts';
import { CompactReader, CompactWriter } from './wire.ts';

describe('the compact encoding of Kafka’s protocol', () => {
  it('reads back what it wrote', () => {
    const uuid = fc.uint8Array({ minLength: 16, maxLength: 16 }).map((bytes) => {
      const text = Buffer.from(bytes).toString('base64url');
      return bytes.every((byte) => byte === 0) ? null : text;
    });
    const fields = fc.record({
      texts: fc.array(fc.string({ unit: 'binary', maxLength: 300 })),
      int8: fc.integer({ min: -128, max: 127 }),
      int32: fc.integer(),
      int64: fc.maxSafeInteger(),
      uuid,
    });
    fc.assert(
      fc.property(fields, ({ texts, int8, int32, int64, uuid: id }) => {
        const writer = new CompactWriter();
        writer
          .list(texts, (text) => writer.text(text))
          .int8(int8)
          .int32(int32)
          .int64(int64)
          .uuid(id)
          .noTags();
        const reader = new CompactReader(writer.bytes());
        expect(reader.list(() => reader.text())).toEqual(texts);
        expect([reader.int8(), reader.int32(), reader.int64(), reader.uuid()]).toEqual([int8, int32, int64, id]);
        reader.skipTags();
        expect(() => reader.int8()).toThrow(RangeError);
      }),
    );
  });

  it.each<[string, (reader: CompactReader) => unknown, number[]]>([
    ['a text longer than the answer', (reader) => reader.text(), [0xff, 0xff, 0xff, 0xff, 0x0f, 1]],
    ['a list longer than the answer', (reader) => reader.list(() => reader.int8()), [0xff, 0xff, 0xff, 0xff, 0x0f, 1]],
    ['bytes longer than the answer', (reader) => reader.blob(), [9, 1]],
    ['a length without an end', (reader) => reader.text(), Array.from({ length: 12 }, () => 0xff)],
    ['tagged fields longer than the answer', (reader) => reader.skipTags(), [1, 0, 200, 1]],
    ['half a number', (reader) => reader.int64(), [1, 2, 3]],
  ])('refuses %s', (_, read, bytes) => {
    expect(() => read(new CompactReader(Buffer.from(bytes)))).toThrow(RangeError);
  });

  it('reads responses of random bytes, or refuses them with a RangeError', async () => {
    const requests = [metadataRequest(null), fetchRequest([], { maxWaitMs: 1, maxBytes: 1 })];
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (bytes) => {
        for (const { response } of requests) {
          const error: unknown = await response.decode(Buffer.from(bytes)).then(
            () => null,
            (reason: unknown) => reason,
          );
          expect(error === null || error instanceof RangeError).toBe(true);
        }
      }),
    );
  });
});
