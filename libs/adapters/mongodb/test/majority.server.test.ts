import { MongoServerError, type Collection } from 'mongodb';
import { describe, expect, it } from 'vitest';
import { createAttempts } from '../src/attempts.ts';
import { compareAndSet } from '../src/compare-and-set.ts';

type Kind = { readonly _id: string; readonly version: number; readonly written: string };

/**
 * A replica set whose majority follows its primary late, of one document: what a single server can never show. A write is
 * judged by what the primary has, a reading shows what the majority has.
 */
function lateMajority(readings: number) {
  let primary: Kind = { _id: 'a', version: 1, written: 'nobody' };
  let majority = primary;
  let late = readings;
  let losing = false;
  const collection = {
    async updateOne(filter: Partial<Kind>, update: { $set: Partial<Kind> }) {
      if (filter.version !== primary.version) return { matchedCount: 0 };
      primary = { ...primary, ...update.$set };
      if (losing) {
        losing = false;
        throw new MongoServerError({ code: 64, errmsg: 'waiting for replication timed out' });
      }
      return { matchedCount: 1 };
    },
    async findOne() {
      late -= 1;
      if (late < 0) majority = primary;
      return majority;
    },
  };
  return {
    collection: collection as unknown as Collection<Kind>,
    moveBy(written: string) {
      primary = { ...primary, version: 2, written };
    },
    /** The next write is done and its answer is lost. */
    loseNextAnswer() {
      losing = true;
    },
    now: () => primary,
  };
}

describe('a compare-and-set write to MongoDB whose majority lags behind', () => {
  const { attempt } = createAttempts(5000);

  it('returns stale only once the majority shows another writer’s change', async () => {
    const set = lateMajority(3);
    set.moveBy('another');
    expect(await compareAndSet(set.collection, attempt, 'a', 2, {})).toBe('stale');
    expect(set.now().written).toBe('another');
  });

  it('returns done if its own write timed out and is found to be stored', async () => {
    const set = lateMajority(3);
    set.loseNextAnswer();
    expect(await compareAndSet(set.collection, attempt, 'a', 2, {})).toBe('done');
    expect(set.now().version).toBe(2);
  });

  it('rejects as unavailable if the result stays unknown', async () => {
    const set = lateMajority(Number.POSITIVE_INFINITY);
    set.moveBy('another');
    const unknown = compareAndSet(set.collection, createAttempts(50).attempt, 'a', 2, {});
    await expect(unknown).rejects.toMatchObject({ code: 'store_unavailable' });
  });
});
