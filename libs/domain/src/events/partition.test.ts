import fc from 'fast-check';
import { expect, test } from 'vitest';
import { partitionOf } from './partition.ts';

/** Hashes that Kafka's tests give for these keys. */
const KAFKA: readonly (readonly [string, number])[] = [
  ['21', -973932308],
  ['foobar', -790332482],
  ['a-little-bit-long-string', -985981536],
  ['a-little-bit-longer-string', -1486304829],
  ['lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8', -58897971],
  ['abc', 479470107],
];
/** Those that kafkajs gives for keys around the length from which they are read otherwise. */
const KAFKAJS: readonly (readonly [string, number])[] = [
  ['😀key', 2126733342],
  ['ü'.repeat(64), -1772989295],
  ['ü'.repeat(65), -2016159393],
  ['long-'.repeat(40), -1904236913],
];

test.each([...KAFKA, ...KAFKAJS])(
  'the key %s is mapped to the partition that Kafka’s own client chooses',
  (key, hash) => {
    for (const count of [1, 8, 12, 1000]) expect(partitionOf(key, count)).toBe((hash & 0x7fffffff) % count);
  },
);

test('every key is mapped to a partition number below the number of partitions', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.integer({ min: 1, max: 1000 }), (key, count) => {
      const partition = partitionOf(key, count);
      expect(Number.isInteger(partition) && partition >= 0 && partition < count).toBe(true);
    }),
  );
});

test('random keys spread evenly over eight partitions', () => {
  const counts = Array.from({ length: 8 }, () => 0);
  for (let at = 0; at < 8000; at += 1) {
    const partition = partitionOf(`customer-${at}`, 8);
    counts[partition] = (counts[partition] ?? 0) + 1;
  }
  for (const count of counts) expect(count).toBeGreaterThan(850);
});
