import { beforeEach, describe, expect, it } from 'vitest';
import { coalesceRequests } from './coalesce-requests.ts';

type Item = { readonly key: string; readonly n: number };

let asked: (number | readonly number[])[] = [];
let broken = false;
beforeEach(() => {
  asked = [];
  broken = false;
});
const ask = coalesceRequests<Item, number>(
  ({ key }) => key,
  async ({ n }) => {
    asked.push(n);
    return n;
  },
  async (items) => {
    if (broken) throw new Error('away');
    asked.push(items.map(({ n }) => n));
    return items.map(({ n }) => n);
  },
);
const askFor = (keys: readonly string[]): Promise<readonly number[]> =>
  Promise.all(keys.map((key, n) => ask({ key, n })));

describe('calls to MongoDB made while a request is running', () => {
  it('share the next request once that one ends in any way, and no later call gets its response', async () => {
    const answers: PromiseWithResolvers<number>[] = [];
    const requests: (readonly number[])[] = [];
    const request = async (items: readonly Item[]): Promise<readonly number[]> => {
      const answer = Promise.withResolvers<number>();
      answers.push(answer);
      requests.push(items.map(({ n }) => n));
      const first = await answer.promise;
      return items.map((_item, at) => first + at);
    };
    const askInTurn = coalesceRequests<Item, number>(
      ({ key }) => key,
      async (item) => (await request([item]))[0] ?? Number.NaN,
      request,
      { oneAtATime: true },
    );
    const first = askInTurn({ key: 'a', n: 1 });
    await expect.poll(() => requests).toEqual([[1]]);
    const later = [askInTurn({ key: 'a', n: 2 }), askInTurn({ key: 'b', n: 3 })];
    await new Promise((resolve) => setImmediate(resolve));
    expect(requests).toEqual([[1]]);
    answers[0]?.reject(new Error('away'));
    await expect(first).rejects.toThrow('away');
    await expect.poll(() => requests).toEqual([[1], [2, 3]]);
    answers[1]?.resolve(10);
    expect(await Promise.all(later)).toEqual([10, 11]);
    const last = askInTurn({ key: 'a', n: 4 });
    await expect.poll(() => requests.at(-1)).toEqual([4]);
    answers[2]?.resolve(20);
    expect(await last).toBe(20);
  });
});

describe('calls to MongoDB made in one tick', () => {
  it('share one request, and each gets its own response', async () => {
    expect(await askFor(['a', 'b', 'c'])).toEqual([0, 1, 2]);
    expect(asked).toEqual([[0, 1, 2]]);
  });

  it('are sent individually if there is only one', async () => {
    expect(await ask({ key: 'a', n: 7 })).toBe(7);
    expect(await ask({ key: 'a', n: 8 })).toBe(8);
    expect(asked).toEqual([7, 8]);
  });

  it('never have one key twice in a request', async () => {
    expect(await askFor(['a', 'b', 'a', 'a', 'c', 'b'])).toEqual([0, 1, 2, 3, 4, 5]);
    expect(new Set(asked)).toEqual(new Set([[0, 1, 4], [2, 5], 3]));
  });

  it('are split into requests of at most 64', async () => {
    const keys = Array.from({ length: 150 }, (_, n) => String(n));
    expect(await askFor(keys)).toEqual(keys.map(Number));
    expect(asked.map((one) => (Array.isArray(one) ? one.length : 1))).toEqual([64, 64, 22]);
  });

  it('fail together, and later calls are sent again', async () => {
    broken = true;
    const all = await Promise.allSettled([ask({ key: 'a', n: 1 }), ask({ key: 'b', n: 2 })]);
    expect(all.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    broken = false;
    expect(await askFor(['a', 'b'])).toEqual([0, 1]);
  });
});
