import type { LogId } from '@carillon/kernel';
import type { RuleState, RuleStateStore } from '@carillon/ports';
import { beforeEach, describe, expect, it } from 'vitest';
import { freshFor, freshName, type UnderTest } from './under-test.ts';

const LOG = 'log_00000000000000000000000001' as LogId;
const OTHER_LOG = 'log_00000000000000000000000002' as LogId;

/** Partitions that no other test uses, so that their queues hold only what a test put there. */
let newestPartition = 1000 + (Date.now() % 1_000_000_000);
const freshPartition = (): number => (newestPartition += 2);

const rejected = (): string => 'rejected';

/** State of rules is fenced by the offset in it: a worker that lost its partition cannot overwrite its successor. */
export function describeRuleStates(name: string, make: () => Promise<UnderTest<RuleStateStore>>): void {
  describe(`${name} keeps the contract of rule states`, () => {
    const { port: store, faults } = freshFor(make);
    let partition = 0;
    beforeEach(() => {
      partition = freshPartition();
    });
    const state = (id: string, more: Partial<RuleState> = {}): RuleState => ({
      id,
      logId: LOG,
      partition,
      offset: 10,
      nextDue: null,
      forgetAt: null,
      waits: [],
      data: '{}',
      ...more,
    });
    const dueIds = async (before: number, limit = 10): Promise<string[]> =>
      (await store().due(partition, before, limit)).map(({ id }) => id);

    it('returns the states that are there and nothing for the others', async () => {
      const [known, unknown] = [freshName('known'), freshName('unknown')];
      const waits = [
        { rule: freshName('rule'), due: 5 },
        { rule: freshName('rule'), due: 6 },
      ];
      const saved = state(known, { nextDue: 5, forgetAt: 7, waits, data: '{"total":9007199254740993,"name":"Grüße"}' });
      expect(await store().save([saved])).toEqual(['done']);
      expect(await store().load([unknown, known])).toEqual([saved]);
      expect(await store().load([])).toEqual([]);
      expect(await store().save([])).toEqual([]);
    });

    it('replaces an older state and keeps the first of two at one offset', async () => {
      const id = freshName('newer');
      await store().save([state(id, { offset: 10, data: '1' })]);
      expect(await store().save([state(id, { offset: 11, data: '2' })])).toEqual(['done']);
      expect(await store().save([state(id, { offset: 11, data: '3', nextDue: 5 })])).toEqual(['done']);
      expect(await store().load([id])).toEqual([state(id, { offset: 11, data: '2' })]);
    });

    it('refuses an older state, and one of another log or partition, each for itself', async () => {
      const ids = ['older', 'log', 'partition', 'fine'].map((stem) => freshName(stem));
      const [older = '', log = '', otherPartition = '', fine = ''] = ids;
      await store().save(ids.map((id) => state(id, { offset: 10, data: 'kept' })));
      const answers = await store().save([
        state(older, { offset: 9 }),
        state(log, { offset: 99, logId: OTHER_LOG }),
        state(otherPartition, { offset: 99, partition: partition + 1 }),
        state(fine, { offset: 11, data: 'new' }),
      ]);
      expect(answers).toEqual(['refused', 'refused', 'refused', 'done']);
      const found = new Map((await store().load(ids)).map((item) => [item.id, item.data]));
      expect(ids.map((id) => found.get(id))).toEqual(['kept', 'kept', 'kept', 'new']);
    });

    it('saves many at once, and two states of one entity in their order', async () => {
      const ids = Array.from({ length: 1_100 }, (_, at) => freshName(`many-${at}`));
      const [twice = ''] = ids;
      const answers = await store().save([...ids.map((id) => state(id)), state(twice, { offset: 11, data: '2' })]);
      expect(new Set(answers)).toEqual(new Set(['done']));
      expect(answers).toHaveLength(1_101);
      const found = await store().load(ids);
      expect(found).toHaveLength(1_100);
      expect(found.find(({ id }) => id === twice)?.data).toBe('2');
    });

    describe('deadlines', () => {
      it('returns states whose deadline is earlier, earliest first, at most as many as asked', async () => {
        const at = (nextDue: number): RuleState => state(freshName(`due-${nextDue}`), { nextDue, offset: nextDue });
        const [thirty, ten, twenty, forty] = [at(30), at(10), at(20), at(40)];
        await store().save([thirty, ten, twenty, forty, state(freshName('never'))]);
        expect(await store().due(partition, 31, 10)).toEqual(
          [ten, twenty, thirty].map(({ id, offset, nextDue }) => ({ id, offset, nextDue })),
        );
        expect(await dueIds(31, 2)).toEqual([ten.id, twenty.id]);
        expect(await dueIds(30)).toEqual([ten.id, twenty.id]);
        expect(await store().due(partition + 1, 31, 10)).toEqual([]);
      });

      it('returns the next page once the states of the page before are saved', async () => {
        const ids = Array.from({ length: 25 }, (_, at) => freshName(`page-${at}`));
        await store().save(ids.map((id, at) => state(id, { nextDue: 100 + Math.floor(at / 10) })));
        const seen: string[] = [];
        for (let page = await dueIds(200); page.length > 0; page = await dueIds(200)) {
          expect(page.length).toBeLessThanOrEqual(10);
          seen.push(...page);
          await store().save(page.map((id) => state(id, { offset: 11 })));
        }
        expect(seen.toSorted()).toEqual(ids.toSorted());
        expect(await store().earliestDue(partition)).toBeNull();
      });

      it('names the earliest deadline of a partition as states come, move and end', async () => {
        const [a, b] = [freshName('a'), freshName('b')];
        expect(await store().earliestDue(partition)).toBeNull();
        await store().save([state(a, { nextDue: 50 }), state(b, { nextDue: 70 })]);
        expect(await store().earliestDue(partition)).toBe(50);
        await store().save([state(a, { offset: 11, nextDue: 90 })]);
        expect(await store().earliestDue(partition)).toBe(70);
        await store().save([state(b, { offset: 11 })]);
        expect(await store().earliestDue(partition)).toBe(90);
        expect(await store().earliestDue(partition + 1)).toBeNull();
      });

      it('keeps the deadline of a newer state when an older one is refused', async () => {
        const id = freshName('fenced');
        await store().save([state(id, { offset: 20 })]);
        expect(await store().save([state(id, { offset: 19, nextDue: 5 })])).toEqual(['refused']);
        expect(await dueIds(100)).toEqual([]);
      });
    });

    describe('waiting entities', () => {
      const waiting = (rule: string, ...dues: readonly number[]): RuleState[] =>
        dues.map((due) => state(freshName('waiting'), { nextDue: due, waits: [{ rule, due }] }));

      it('are counted for each rule up to a limit, with the earliest deadline', async () => {
        const [rule, other, none] = [freshName('rule'), freshName('other'), freshName('none')];
        await store().save([...waiting(rule, 50, 30, 40), ...waiting(other, 10)]);
        expect(await store().waiting(rule, 10)).toEqual({ count: 3, nextDue: 30 });
        expect(await store().waiting(rule, 2)).toEqual({ count: 2, nextDue: 30 });
        expect(await store().waiting(other, 10)).toEqual({ count: 1, nextDue: 10 });
        expect(await store().waiting(none, 10)).toEqual({ count: 0, nextDue: null });
      });

      it('count in all partitions, and once for each of their rules', async () => {
        const [rule, other] = [freshName('rule'), freshName('other')];
        const waits = [
          { rule: other, due: 20 },
          { rule, due: 60 },
        ];
        await store().save([state(freshName('both'), { nextDue: 20, waits })]);
        await store().save([
          { ...state(freshName('elsewhere'), { nextDue: 70 }), partition: partition + 1, waits: [{ rule, due: 70 }] },
        ]);
        expect(await store().waiting(rule, 10)).toEqual({ count: 2, nextDue: 60 });
        expect(await store().waiting(other, 10)).toEqual({ count: 1, nextDue: 20 });
      });

      it('have the earliest deadline of the rule itself, also if many wait by another rule first', async () => {
        const [rule, other, far] = [freshName('rule'), freshName('other'), freshName('far')];
        const now = Date.now();
        const DAY_MS = 86_400_000;
        const both = (later: string, due: number): RuleState =>
          state(freshName('both'), {
            nextDue: now - 10,
            waits: [
              { rule: other, due: now - 10 },
              { rule: later, due },
            ],
          });
        await store().save(Array.from({ length: 150 }, () => both(rule, now + 5_000)));
        await store().save([both(far, now + 10 * DAY_MS), ...waiting(rule, now - 5), ...waiting(far, now + 30_000)]);
        expect(await store().waiting(rule, 1_000)).toEqual({ count: 151, nextDue: now - 5 });
        expect(await store().waiting(far, 1_000)).toEqual({ count: 2, nextDue: now + 30_000 });
        expect(await store().waiting(far, 1)).toEqual({ count: 1, nextDue: now + 30_000 });
      });

      it('are counted as waits move and end, and not by a refused save', async () => {
        const rule = freshName('rule');
        const [a, b] = waiting(rule, 30, 50);
        if (!a || !b) throw new Error('there are two');
        await store().save([a, b]);
        await store().save([{ ...a, offset: 11, nextDue: 90, waits: [{ rule, due: 90 }] }]);
        expect(await store().waiting(rule, 10)).toEqual({ count: 2, nextDue: 50 });
        await store().save([{ ...b, offset: 11, nextDue: null, waits: [] }]);
        expect(await store().save([{ ...b, offset: 10 }])).toEqual(['refused']);
        expect(await store().waiting(rule, 10)).toEqual({ count: 1, nextDue: 90 });
        await store().save([{ ...a, offset: 12, nextDue: null, waits: [] }]);
        expect(await store().waiting(rule, 10)).toEqual({ count: 0, nextDue: null });
      });
    });

    it('lists all states page by page, in the order of their ids', async () => {
      const stem = freshName('listed');
      const states = ['a', 'b', 'c'].map((end) => state(`${stem}-${end}`, { data: end }));
      await store().save(states.toReversed());
      expect(await store().list(2, stem)).toEqual(states.slice(0, 2));
      expect((await store().list(2, `${stem}-b`))[0]).toEqual(states[2]);
      expect(await store().list(1, '\u{10FFFF}')).toEqual([]);
    });

    describe('sweep', () => {
      it('removes states that wait for nothing and are old, at most as many as asked', async () => {
        const ids = ['old-1', 'old-2', 'old-3', 'young', 'waiting', 'for-ever'].map((stem) => freshName(stem));
        const [, , , young = '', waiting = '', forEver = ''] = ids;
        await store().save([
          ...ids.slice(0, 3).map((id) => state(id, { forgetAt: 100 })),
          state(young, { forgetAt: 200 }),
          state(waiting, { forgetAt: 100, nextDue: 5_000 }),
          state(forEver),
        ]);
        expect(await store().sweep(partition, 200, 2)).toBe(2);
        expect(await store().sweep(partition, 200, 2)).toBe(1);
        expect(await store().sweep(partition, 200, 2)).toBe(0);
        expect(await store().sweep(partition + 1, 5_000, 10)).toBe(0);
        const left = (await store().load(ids)).map(({ id }) => id);
        expect(left.toSorted()).toEqual([young, waiting, forEver].toSorted());
      });

      it('removes a state once its wait has ended, and keeps one that came to wait again', async () => {
        const [ended, again] = [freshName('ended'), freshName('again')];
        await store().save([state(ended, { forgetAt: 100, nextDue: 50 }), state(again, { forgetAt: 100 })]);
        await store().save([
          state(ended, { offset: 11, forgetAt: 100 }),
          state(again, { offset: 11, forgetAt: 100, nextDue: 300 }),
        ]);
        expect(await store().sweep(partition, 101, 10)).toBe(1);
        expect((await store().load([ended, again])).map(({ id }) => id)).toEqual([again]);
      });
    });

    it('removes states with their waits, and keeps one that changed meanwhile', async () => {
      const [rule, ids] = [freshName('rule'), ['gone', 'changed', 'unnamed'].map((stem) => freshName(stem))];
      const [gone = '', changed = '', unnamed = ''] = ids;
      const waits = [{ rule, due: 50 }];
      await store().save(ids.map((id) => state(id, { nextDue: 50, waits })));
      await store().save([state(changed, { offset: 11, nextDue: 50, waits })]);
      const removed = [gone, changed, freshName('absent')].map((id) => ({ id, offset: 10 }));
      await store().remove(removed);
      await store().remove(removed);
      await store().remove([]);
      expect((await store().load(ids)).map(({ id }) => id).toSorted()).toEqual([changed, unnamed].toSorted());
      expect((await dueIds(100)).toSorted()).toEqual([changed, unnamed].toSorted());
      expect(await store().waiting(rule, 10)).toEqual({ count: 2, nextDue: 50 });
    });

    it('ends with the newest of many that save at once, also when answers are lost', async () => {
      // The embedded backend answers in the same process, so no answer can be lost there.
      const lossy = faults();
      lossy?.loseAnswers?.(0.3);
      try {
        for (const id of [freshName('race-1'), freshName('race-2')]) {
          const saves = Array.from({ length: 20 }, (_, at) => (at * 7) % 20).map((offset) =>
            store()
              .save([state(id, { offset, data: String(offset), nextDue: offset })])
              .then(([answer = 'none']) => answer, rejected),
          );
          const answers = await Promise.all(saves);
          // Answer 17 is that of offset 19. The save may have failed if all its answers were lost.
          if (answers[17] === 'done') {
            expect(await store().load([id])).toEqual([state(id, { offset: 19, data: '19', nextDue: 19 })]);
          } else expect(answers[17]).toBe('rejected');
        }
      } finally {
        lossy?.loseAnswers?.(0);
      }
    });

    it('rejects a save that it cannot do, and takes the same states once it can', async ({ skip }) => {
      const broken = faults() ?? skip();
      const ids = [freshName('broken-1'), freshName('broken-2')];
      await store().save([state(ids[0] ?? '', { offset: 1, nextDue: 3 })]);
      await broken.breakWrites();
      await expect(store().save(ids.map((id) => state(id, { offset: 2 })))).rejects.toThrow();
      await broken.mendWrites();
      expect(await store().save(ids.map((id) => state(id, { offset: 2 })))).toEqual(['done', 'done']);
      expect((await store().load(ids)).map(({ offset }) => offset)).toEqual([2, 2]);
      expect(await dueIds(100)).toEqual([]);
    });
  });
}
