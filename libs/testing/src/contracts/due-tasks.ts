import type { DueTask, DueTasks } from '@carillon/ports';
import { describe, expect, it } from 'vitest';
import { freshFor, freshName, type UnderTest } from './under-test.ts';

const task = (kind: string, more: Partial<DueTask> = {}): DueTask => ({
  id: freshName('task'),
  kind,
  workspace: 'shop',
  nextAt: 100,
  deadline: null,
  version: 1,
  leaseUntil: null,
  done: false,
  data: '{}',
  ...more,
});

/** Custody of work: taken once, found when it is due, moved by one at a time. */
export function describeDueTasks(name: string, make: () => Promise<UnderTest<DueTasks>>): void {
  describe(`${name} keeps the contract of due tasks`, () => {
    const { port: tasks } = freshFor(make);
    const dueIds = async (kind: string, now: number, limit = 10): Promise<readonly string[]> =>
      (await tasks().due(kind, now, limit)).map(({ id }) => id);

    it('takes what is new and leaves alone what is there', async () => {
      const kind = freshName('ask');
      const [first, second] = [task(kind, { data: 'first' }), task(kind)];
      expect(await tasks().insert([first])).toEqual([true]);
      expect(await tasks().insert([{ ...first, data: 'other' }, second, second])).toEqual([false, true, false]);
      expect(await tasks().get(first.id)).toEqual(first);
      expect(await tasks().insert([])).toEqual([]);
      expect(await tasks().get(freshName('unknown'))).toBeNull();
    });

    it('has one winner when many insert one task at once', async () => {
      const one = task(freshName('race'));
      const answers = await Promise.all(Array.from({ length: 10 }, () => tasks().insert([one])));
      expect(answers.flat().filter(Boolean)).toHaveLength(1);
    });

    it('finds what is due, earliest first: not the later, the leased, the done, or another kind', async () => {
      const kind = freshName('due');
      const [late, early] = [task(kind, { nextAt: 90 }), task(kind, { nextAt: 50 })];
      const leaseOver = task(kind, { nextAt: 95, leaseUntil: 100 });
      await tasks().insert([
        late,
        early,
        leaseOver,
        task(kind, { nextAt: 101 }),
        task(kind, { leaseUntil: 101 }),
        task(kind, { done: true }),
        task(freshName('other')),
      ]);
      expect(await dueIds(kind, 100)).toEqual([early.id, late.id, leaseOver.id]);
      expect(await dueIds(kind, 100, 1)).toEqual([early.id]);
    });

    it('names the kinds of which something is due, leased or not', async () => {
      const [due, leased, later, done] = ['due', 'leased', 'later', 'done'].map(freshName) as [
        string,
        string,
        string,
        string,
      ];
      await tasks().insert([
        task(due),
        task(due),
        task(leased, { leaseUntil: 500 }),
        task(later, { nextAt: 101 }),
        task(done, { done: true }),
      ]);
      const kinds = (await tasks().dueKinds(100)).filter((kind) => [due, leased, later, done].includes(kind));
      expect(kinds.toSorted()).toEqual([due, leased].toSorted());
      expect(await tasks().dueKinds(101)).toContain(later);
    });

    it('finds what is too late, earliest deadline first, due or not: not the leased, the done, or another kind', async () => {
      const kind = freshName('overdue');
      const [second, first] = [task(kind, { nextAt: 900, deadline: 90 }), task(kind, { deadline: 50 })];
      const moved = task(kind, { deadline: 100 });
      await tasks().insert([
        second,
        first,
        moved,
        task(kind),
        task(kind, { deadline: 101 }),
        task(kind, { deadline: 50, leaseUntil: 101 }),
        task(kind, { deadline: 50, done: true }),
        task(freshName('other'), { deadline: 50 }),
      ]);
      const found = await tasks().overdue(kind, 100, 10);
      expect(found).toEqual([first, second, moved]);
      expect(await tasks().overdue(kind, 100, 1)).toEqual([first]);
      await tasks().replace(1, { ...first, version: 2, deadline: 500 });
      await tasks().replace(1, { ...second, version: 2, deadline: null });
      expect(await tasks().overdue(kind, 100, 10)).toEqual([moved]);
    });

    it('moves a task of the version that was read, and no other', async () => {
      const kind = freshName('move');
      const first = task(kind);
      await tasks().insert([first]);
      const claimed = { ...first, version: 2, leaseUntil: 500 };
      expect(await tasks().replace(1, claimed)).toBe('done');
      expect(await tasks().replace(1, { ...first, version: 2, data: 'too late' })).toBe('stale');
      expect(await tasks().replace(1, claimed)).toBe('stale');
      expect(await tasks().replace(5, { ...claimed, version: 6 })).toBe('stale');
      expect(await tasks().get(first.id)).toEqual(claimed);
      expect(await tasks().replace(7, task(kind, { version: 8 }))).toBe('stale');
      await expect(tasks().replace(2, { ...claimed, version: 4 })).rejects.toThrow();
    });

    it('has one winner when many claim one task at once', async () => {
      const first = task(freshName('claim'));
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
