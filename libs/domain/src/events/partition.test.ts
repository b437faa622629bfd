import fc from 'fast-check';
import { expect, test } from 'vitest';
import { partitionOf } from './partition.ts';

test('a key always has the same partition, also in the next release', () => {
  expect(['', 'a', '01J9ZK3W5X7Y8A2B4C6D8E0FGH', 'Straße'].map((key) => partitionOf(key, 8))).toEqual([3, 3, 0, 3]);
});

test('a partition is one of those that there are', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.integer({ min: 1, max: 1000 }), (key, count) => {
      const partition = partitionOf(key, count);
      expect(Number.isInteger(partition) && partition >= 0 && partition < count).toBe(true);
    }),
  );
});

test('keys spread evenly over eight partitions', () => {
  const counts = Array.from({ length: 8 }, () => 0);
  for (let at = 0; at < 8000; at += 1) {
    const partition = partitionOf(`customer-${at}`, 8);
    counts[partition] = (counts[partition] ?? 0) + 1;
  }
  for (const count of counts) expect(count).toBeGreaterThan(850);
});
