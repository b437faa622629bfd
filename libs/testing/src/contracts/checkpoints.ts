import type { LogId } from '@carillon/kernel';
import type { Checkpoint, CheckpointStore } from '@carillon/ports';
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
