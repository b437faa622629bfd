import type { DueTask, DueTasks, TaskQueue } from '@carillon/ports';
import { describe, expect, it } from 'vitest';
import { freshFor, freshName, type UnderTest } from './under-test.ts';

/** A queue that no other test uses. */
const freshQueue = (name: string): TaskQueue => ({ job: 'ask', workspace: 'shop', name: freshName(name) });
const task = (queue: TaskQueue, more: Partial<DueTask> = {}): DueTask => ({
  id: freshName('task'),
  queue,
  nextAt: 100,
  deadline: null,
  version: 1,
  leaseUntil: null,
  done: false,
  data: '{}',
  ...more,
});

/** Custody of work: taken once, found when it is due, moved by one at a time. */
export function describeDueTasks(store: string, make: () => Promise<UnderTest<DueTasks>>): void {
  describe(`${store} keeps the contract of due tasks`, () => {
    const { port: tasks } = freshFor(make);
    const dueIds = async (queue: TaskQueue, now: number, limit = 10): Promise<readonly string[]> =>
      (await tasks().due(queue, now, limit)).map(({ id }) => id);

    it('takes what is new and leaves alone what is there', async () => {
      const queue = freshQueue('ask');
      const [first, second] = [task(queue, { data: 'first' }), task(queue)];
      expect(await tasks().insert([first])).toEqual([true]);
      expect(await tasks().insert([{ ...first, data: 'other' }, second, second])).toEqual([false, true, false]);
      expect(await tasks().get(first.id)).toEqual(first);
      expect(await tasks().insert([])).toEqual([]);
      expect(await tasks().get(freshName('unknown'))).toBeNull();
    });

    it('has one winner when many insert one task at once', async () => {
      const one = task(freshQueue('race'));
      const answers = await Promise.all(Array.from({ length: 10 }, () => tasks().insert([one])));
      expect(answers.flat().filter(Boolean)).toHaveLength(1);
    });

    it('finds what is due, earliest first: not the later, the leased, the done, or another queue', async () => {
      const queue = freshQueue('due');
      const [late, early] = [task(queue, { nextAt: 90 }), task(queue, { nextAt: 50 })];
      const leaseOver = task(queue, { nextAt: 95, leaseUntil: 100 });
      await tasks().insert([
        late,
        early,
        leaseOver,
        task(queue, { nextAt: 101 }),
        task(queue, { leaseUntil: 101 }),
        task(queue, { done: true }),
        task(freshQueue('other')),
      ]);
      expect(await dueIds(queue, 100)).toEqual([early.id, late.id, leaseOver.id]);
      expect(await dueIds(queue, 100, 1)).toEqual([early.id]);
    });

    it('names the queues of which something is due, leased or not, whatever is in their names', async () => {
      const [due, leased, later, done] = [
        freshQueue('due "quoted", with / and .'),
        freshQueue('leased'),
        freshQueue('later'),
        freshQueue('done'),
      ];
      const elsewhere = { ...due, workspace: 'elsewhere' };
      await tasks().insert([
        task(due),
        task(due),
        task(elsewhere),
        task(leased, { leaseUntil: 500 }),
        task(later, { nextAt: 101 }),
        task(done, { done: true }),
      ]);
      const ours = new Set([due, leased, later, done].map(({ name }) => name));
      const named = (await tasks().dueQueues(100)).filter(({ name }) => ours.has(name));
      expect(named).toHaveLength(3);
      expect(named).toEqual(expect.arrayContaining([due, elsewhere, leased]));
      expect(await tasks().dueQueues(101)).toContainEqual(later);
    });

    it('finds what is too late, earliest deadline first, due or not: not the leased, the done, or another queue', async () => {
      const queue = freshQueue('overdue');
      const [second, first] = [task(queue, { nextAt: 900, deadline: 90 }), task(queue, { deadline: 50 })];
      const moved = task(queue, { deadline: 100 });
      await tasks().insert([
        second,
        first,
        moved,
        task(queue),
        task(queue, { deadline: 101 }),
        task(queue, { deadline: 50, leaseUntil: 101 }),
        task(queue, { deadline: 50, done: true }),
        task(freshQueue('other'), { deadline: 50 }),
      ]);
      const found = await tasks().overdue(queue, 100, 10);
      expect(found).toEqual([first, second, moved]);
      expect(await tasks().overdue(queue, 100, 1)).toEqual([first]);
      await tasks().replace(1, { ...first, version: 2, deadline: 500 });
      await tasks().replace(1, { ...second, version: 2, deadline: null });
      expect(await tasks().overdue(queue, 100, 10)).toEqual([moved]);
    });

    it('moves a task of the version that was read, and no other', async () => {
      const queue = freshQueue('move');
      const first = task(queue);
      await tasks().insert([first]);
      const claimed = { ...first, version: 2, leaseUntil: 500 };
      expect(await tasks().replace(1, claimed)).toBe('done');
      expect(await tasks().replace(1, { ...first, version: 2, data: 'too late' })).toBe('stale');
      expect(await tasks().replace(1, claimed)).toBe('stale');
      expect(await tasks().replace(5, { ...claimed, version: 6 })).toBe('stale');
      expect(await tasks().get(first.id)).toEqual(claimed);
      expect(await tasks().replace(7, task(queue, { version: 8 }))).toBe('stale');
      await expect(tasks().replace(2, { ...claimed, version: 4 })).rejects.toThrow();
    });

    it('has one winner when many claim one task at once', async () => {
      const first = task(freshQueue('claim'));
      await tasks().insert([first]);
      const claims = Array.from({ length: 20 }, (_, at) =>
        tasks().replace(1, { ...first, version: 2, data: String(at) }),
      );
      const winners = (await Promise.all(claims)).flatMap((answer, at) => (answer === 'done' ? [String(at)] : []));
      expect(winners).toHaveLength(1);
      expect((await tasks().get(first.id))?.data).toBe(winners[0]);
    });
  });
}
