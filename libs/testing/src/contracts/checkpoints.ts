import type { LogId } from '@carillon/kernel';
import type { Checkpoint, CheckpointStore, RuleState, RuleStateStore } from '@carillon/ports';
import { describe, expect, it } from 'vitest';
import { freshFor, freshName, type UnderTest } from './under-test.ts';

const LOG = 'log_00000000000000000000000001' as LogId;
const OTHER_LOG = 'log_00000000000000000000000002' as LogId;

const checkpoint = (group: string, more: Partial<Checkpoint> = {}): Checkpoint => ({
  group,
  topic: 'carillon.events',
  partition: 0,
  logId: LOG,
  next: 10,
  watermark: 0,
  configNumber: -1,
  ...more,
});

/** A checkpoint only moves forwards, whoever writes it and however late. */
export function describeCheckpoints(name: string, make: () => Promise<UnderTest<CheckpointStore>>): void {
  describe(`${name} keeps the contract of checkpoints`, () => {
    const { port: store, faults } = freshFor(make);
    const load = (group: string, partition = 0): Promise<Checkpoint | null> =>
      store().load(group, 'carillon.events', partition);

    it('knows nothing of a group that never saved', async () => {
      expect(await load(freshName('new'))).toBeNull();
    });

    it('returns what was saved, with watermark and configuration number', async () => {
      const saved = checkpoint(freshName('whole'), { watermark: 1_700_000_000_123, configNumber: 7 });
      expect(await store().save(saved)).toBe('done');
      expect(await load(saved.group)).toEqual(saved);
    });

    it('moves forwards and counts an equal one as done', async () => {
      const group = freshName('forwards');
      expect(await store().save(checkpoint(group, { next: 10 }))).toBe('done');
      expect(await store().save(checkpoint(group, { next: 11 }))).toBe('done');
      expect(await store().save(checkpoint(group, { next: 11 }))).toBe('done');
      expect((await load(group))?.next).toBe(11);
    });

    it('refuses to go back and keeps what it had', async () => {
      const group = freshName('back');
      await store().save(checkpoint(group, { next: 10, configNumber: 5 }));
      expect(await store().save(checkpoint(group, { next: 9, configNumber: 6 }))).toBe('refused');
      expect(await load(group)).toEqual(checkpoint(group, { next: 10, configNumber: 5 }));
    });

    it('refuses a position of another log, however large', async () => {
      const group = freshName('other-log');
      await store().save(checkpoint(group));
      expect(await store().save(checkpoint(group, { logId: OTHER_LOG, next: 1_000_000 }))).toBe('refused');
      expect((await load(group))?.logId).toBe(LOG);
    });

    it('keeps groups, topics and partitions apart', async () => {
      const group = freshName('apart');
      await store().save(checkpoint(group, { next: 10 }));
      await store().save(checkpoint(group, { next: 3, partition: 1 }));
      await store().save(checkpoint(group, { next: 4, topic: 'carillon.intents' }));
      expect((await load(group))?.next).toBe(10);
      expect((await load(group, 1))?.next).toBe(3);
      expect((await store().load(group, 'carillon.intents', 0))?.next).toBe(4);
    });

    it('ends with the furthest of many that save at once', async () => {
      const group = freshName('race');
      const saves = Array.from({ length: 30 }, (_, at) => store().save(checkpoint(group, { next: (at * 7) % 30 })));
      await Promise.all(saves);
      expect((await load(group))?.next).toBe(29);
    });

    it('rejects while it cannot write, and goes on when it can', async ({ skip }) => {
      const broken = faults();
      if (!broken) return skip('this adapter has no faults to inject');
      const group = freshName('broken');
      await store().save(checkpoint(group, { next: 1 }));
      await broken.breakWrites();
      await expect(store().save(checkpoint(group, { next: 2 }))).rejects.toThrow();
      await broken.mendWrites();
      expect(await store().save(checkpoint(group, { next: 3 }))).toBe('done');
    });
  });
}

const state = (id: string, more: Partial<RuleState> = {}): RuleState => ({
  id,
  logId: LOG,
  partition: 0,
  offset: 10,
  nextDue: null,
  data: '{}',
  ...more,
});

/** State of rules is fenced by the position in it: a worker that lost its partition cannot overwrite its successor. */
export function describeRuleStates(name: string, make: () => Promise<UnderTest<RuleStateStore>>): void {
  describe(`${name} keeps the contract of rule states`, () => {
    const { port: store } = freshFor(make);

    it('gives back those that are there and nothing for the others', async () => {
      const [known, unknown] = [freshName('known'), freshName('unknown')];
      const saved = state(known, { nextDue: 5, data: '{"total":9007199254740993,"name":"Grüße"}' });
      expect(await store().save([saved])).toEqual(['done']);
      expect(await store().load([unknown, known])).toEqual([saved]);
      expect(await store().load([])).toEqual([]);
      expect(await store().save([])).toEqual([]);
    });

    it('replaces an older one and keeps the first of two at one position', async () => {
      const id = freshName('newer');
      await store().save([state(id, { offset: 10, data: '1' })]);
      expect(await store().save([state(id, { offset: 11, data: '2' })])).toEqual(['done']);
      expect(await store().save([state(id, { offset: 11, data: '2' })])).toEqual(['done']);
      expect(await store().load([id])).toEqual([state(id, { offset: 11, data: '2' })]);
    });

    it('refuses an older one, and one of another log or partition, each for itself', async () => {
      const ids = ['older', 'log', 'partition', 'fine'].map((stem) => freshName(stem));
      const [older = '', log = '', partition = '', fine = ''] = ids;
      await store().save(ids.map((id) => state(id, { offset: 10, data: 'kept' })));
      const answers = await store().save([
        state(older, { offset: 9 }),
        state(log, { offset: 99, logId: OTHER_LOG }),
        state(partition, { offset: 99, partition: 1 }),
        state(fine, { offset: 11, data: 'new' }),
      ]);
      expect(answers).toEqual(['refused', 'refused', 'refused', 'done']);
      const found = new Map((await store().load(ids)).map((item) => [item.id, item.data]));
      expect(ids.map((id) => found.get(id))).toEqual(['kept', 'kept', 'kept', 'new']);
    });

    it('finds timers that are due in a partition, earliest first, at most as many as asked', async () => {
      // A partition of its own, so that others do not mix in.
      const partition = 1000 + Math.floor(Math.random() * 1_000_000);
      const ids = [30, 10, 20, 40].map((nextDue) => ({ id: freshName('due'), nextDue }));
      const never = { id: freshName('never'), nextDue: null };
      await store().save([...ids, never].map(({ id, nextDue }) => state(id, { nextDue, partition })));
      expect((await store().due(partition, 30, 10)).map((item) => item.nextDue)).toEqual([10, 20, 30]);
      expect((await store().due(partition, 30, 2)).map((item) => item.nextDue)).toEqual([10, 20]);
      expect(await store().due(partition + 1, 30, 10)).toEqual([]);
    });

    it('ends with the newest of many that save at once', async () => {
      const id = freshName('race');
      const saves = Array.from({ length: 20 }, (_, at) =>
        store().save([state(id, { offset: (at * 7) % 20, data: String((at * 7) % 20) })]),
      );
      await Promise.all(saves);
      expect(await store().load([id])).toEqual([state(id, { offset: 19, data: '19' })]);
    });
  });
}
