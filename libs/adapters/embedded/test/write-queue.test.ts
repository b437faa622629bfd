import { describe, expect, it } from 'vitest';
import { WriteQueue } from '../src/writing/write-queue.ts';

/** Rows of each write of the next transactions. */
function transactionsOf(writes: readonly number[]): readonly (readonly number[])[] {
  const queue = new WriteQueue(1_000_000);
  for (const rows of writes) {
    const load = { bytes: 100, rows };
    queue.add({ name: 'write', args: [], load, resolve: () => undefined, reject: () => undefined });
  }
  const transactions: (readonly number[])[] = [];
  while (queue.length > 0) transactions.push(queue.take().map(({ load }) => load.rows ?? 1));
  return transactions;
}

describe('the queue of writes to the data file', () => {
  it('commits small writes at once, and a large one behind them separately', () => {
    expect(transactionsOf([1, 2, 500, 1])).toEqual([
      [1, 2],
      [500, 1],
    ]);
  });

  it('commits up to 1,000 rows together', () => {
    expect(transactionsOf([500, 400, 200])).toEqual([[500, 400], [200]]);
    expect(transactionsOf([1, 2, 3])).toEqual([[1, 2, 3]]);
  });
});
