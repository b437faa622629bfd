import { gzipSync } from 'node:zlib';
import { runToCompletion } from '@carillon/kernel';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { batchOf, markerOf, TRANSACTIONAL, varint } from '../../test/record-batches.ts';
import { readTopicRecords, type AbortedTransaction } from './topic-records.ts';

const GZIP = 1;
const read = (bytes: Buffer, from = 0, aborted: readonly AbortedTransaction[] = [], left = 16 * 1024 * 1024) => {
  const { records, next } = runToCompletion(readTopicRecords(bytes, from, aborted, { left }));
  return {
    next,
    records: records.map(({ offset, value }) => [offset, value && Buffer.from(value).toString()]),
    all: records,
  };
};

describe('readTopicRecords (parses the batches of a customer’s topic)', () => {
  it('reads keys, values, headers and times of whole batches', () => {
    const first = batchOf([{ key: 'k', value: 'a', headers: { h: 'é' } }, { value: null }], { first: 5, time: 1_000 });
    const { all, next } = read(Buffer.concat([first, batchOf([{ value: 'b' }], { first: 7 })]));
    expect(next).toBe(8);
    expect(all).toMatchObject([
      { offset: 5, time: 1_000, key: Buffer.from('k'), value: Buffer.from('a'), headers: { h: 'é' } },
      { offset: 6, time: 1_001, key: null, value: null, headers: {}, unreadable: null },
      { offset: 7, value: Buffer.from('b') },
    ]);
  });

  it('starts in the middle of a batch, and leaves a truncated batch to the next fetch', () => {
    const whole = batchOf([{ value: 'a' }, { value: 'b' }, { value: 'c' }], { first: 0 });
    const cut = batchOf([{ value: 'd' }], { first: 3 });
    for (let length = 0; length < cut.length; length += 1) {
      const found = read(Buffer.concat([whole, cut.subarray(0, length)]), 1);
      expect(found.records).toEqual([
        [1, 'b'],
        [2, 'c'],
      ]);
      expect(found.next).toBe(3);
    }
  });

  it('skips gaps left by compaction, also at the end of a batch', () => {
    const holes = batchOf(
      [
        { delta: 1, value: 'a' },
        { delta: 4, value: 'b' },
      ],
      { first: 10, lastDelta: 9 },
    );
    const empty = batchOf([], { first: 20, lastDelta: 2 });
    expect(read(Buffer.concat([holes, empty, batchOf([{ value: 'c' }], { first: 30 })]), 10)).toMatchObject({
      records: [
        [11, 'a'],
        [14, 'b'],
        [30, 'c'],
      ],
      next: 31,
    });
    expect(read(Buffer.concat([holes, empty]), 10).next).toBe(23);
  });

  it('leaves out records of aborted transactions of the same producer only, and all control records', () => {
    const of = (producerId: number, first: number, value: string): Buffer =>
      batchOf([{ value }], { first, producerId, attributes: TRANSACTIONAL });
    const bytes = Buffer.concat([
      of(1, 0, 'aborted'),
      of(2, 1, 'committed'),
      batchOf([{ value: 'plain' }], { first: 2 }),
      markerOf('abort', 3, 1),
      of(1, 4, 'of a later transaction'),
      markerOf('commit', 5, 2),
      markerOf('commit', 6, 1),
    ]);
    const found = read(bytes, 0, [{ producerId: 1, firstOffset: 0 }]);
    expect(found.records.map(([, value]) => value)).toEqual(['committed', 'plain', 'of a later transaction']);
    expect(found.next).toBe(7);
  });

  it('stops after the batch that uses up the byte budget', () => {
    const batches = [0, 1, 2].map((first) => batchOf([{ value: 'x'.repeat(1_000) }], { first }));
    expect(read(Buffer.concat(batches), 0, [], 1_500)).toMatchObject({ next: 2 });
  });

  it.each<[string, Buffer]>([
    ['data of no codec', batchOf([{ value: 'a' }], { first: 0, attributes: GZIP, pack: () => Buffer.from('no gzip') })],
    ['a codec that nobody knows', batchOf([{ value: 'a' }], { first: 0, attributes: 7 })],
    [
      'more than 16 MiB once it is unpacked',
      batchOf([], {
        first: 0,
        lastDelta: 0,
        attributes: GZIP,
        count: 1,
        pack: () => gzipSync(Buffer.alloc(17 * 1024 * 1024)),
      }),
    ],
    [
      'a length that leads beyond the end',
      batchOf([], { first: 0, lastDelta: 0, count: 1, pack: () => varint(2 ** 40) }),
    ],
    ['a negative length', batchOf([], { first: 0, lastDelta: 0, count: 1, pack: () => varint(-5) })],
    ['a number without an end', batchOf([], { first: 0, lastDelta: 0, count: 1, pack: () => Buffer.alloc(40, 0xff) })],
    ['more records than bytes', batchOf([{ value: 'a' }], { first: 0, count: 10 })],
    ['a last offset before its first', batchOf([{ value: 'a' }], { first: 0, lastDelta: -5 })],
    ['a negative number of records', batchOf([{ value: 'a' }], { first: 0, count: -1 })],
    ['two thousand million records', batchOf([{ value: 'a' }], { first: 0, count: 2 ** 31 - 1 })],
  ])('reports the records of a batch with %s as unreadable, and continues after it', (_, bad) => {
    const bytes = Buffer.concat([bad, batchOf([{ value: 'behind' }], { first: 9 })]);
    const found = read(bytes, 0, [], 64 * 1024 * 1024);
    expect(found.all).toMatchObject([
      { offset: 0, value: null, unreadable: expect.any(String) as string },
      { offset: 9 },
    ]);
    expect(found.next).toBe(10);
  });

  it('deducts from the byte budget also a batch that is too large to decompress', () => {
    const bomb = gzipSync(Buffer.alloc(17 * 1024 * 1024));
    const bombs = [0, 1, 2].map((first) =>
      batchOf([], { first, lastDelta: 0, attributes: GZIP, count: 1, pack: () => bomb }),
    );
    expect(read(Buffer.concat(bombs))).toMatchObject({ next: 1, records: [[0, null]] });
  });

  it('never increases the byte budget for a batch with a negative number of records', () => {
    const budget = { left: 1_000 };
    runToCompletion(readTopicRecords(batchOf([{ value: 'a' }], { first: 0, count: -2_000_000_000 }), 0, [], budget));
    expect(budget.left).toBeLessThanOrEqual(1_000);
  });

  it('lists all offsets of an unreadable batch, also if reading starts in its middle', () => {
    const bad = batchOf([], { first: 5, lastDelta: 4, count: 1, pack: () => varint(-5) });
    expect(read(bad, 5).all).toMatchObject([
      { offset: 5, lastOffset: 9, unreadable: expect.stringContaining('the offsets 5 to 9') as string },
    ]);
    expect(read(bad, 7).all).toMatchObject([
      { offset: 7, lastOffset: 9, unreadable: expect.stringContaining('the offsets 7 to 9') as string },
    ]);
    expect(read(bad, 10).all).toEqual([]);
  });

  it('never throws and never moves backwards, whatever bytes are damaged', () => {
    const good = Buffer.concat([
      batchOf([{ value: 'a', headers: { h: '1' } }, { value: 'b' }], { first: 4 }),
      batchOf([{ value: 'c' }], { first: 6, attributes: GZIP, pack: (bytes) => gzipSync(bytes) }),
    ]);
    const damages = fc.array(fc.tuple(fc.nat(good.length - 1), fc.nat(255)), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(damages, (changes) => {
        const bytes = Buffer.from(good);
        for (const [at, byte] of changes) bytes[at] = byte;
        const found = runToCompletion(readTopicRecords(bytes, 4, [], { left: 1_000_000 }));
        expect(found.next).toBeGreaterThanOrEqual(4);
        for (const { offset } of found.records) expect(offset).toBeGreaterThanOrEqual(4);
      }),
    );
  });
});
