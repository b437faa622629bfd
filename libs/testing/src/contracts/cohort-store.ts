import type { Cohort, CohortMember } from '@carillon/domain/cohorts';
import type { LogId } from '@carillon/kernel';
import type { CohortStore } from '@carillon/ports';
import { describe, expect, it } from 'vitest';
import { freshFor, freshName, type UnderTest } from './under-test.ts';

const LOG = 'log_00000000000000000000000001' as LogId;
const OTHER_LOG = 'log_00000000000000000000000002' as LogId;

const cohort = (more: Partial<Cohort> = {}): Cohort => ({
  workspace: 'shop',
  integration: freshName('mixpanel'),
  cohort: 'buyers',
  logId: LOG,
  partition: 3,
  offset: 10,
  name: 'Buyers – “the best”',
  firstAt: 1_700_000_000_000,
  newestAt: 1_700_000_000_001,
  first: { session: 's1', until: null, over: null, pages: null },
  sessions: [{ session: 's1', order: { time: 1_700_000_000_000, offset: 10 } }],
  replacement: {
    session: 's1',
    order: { time: 1_700_000_000_000, offset: 10 },
    of: 3,
    seen: [[1, 2]],
    named: true,
    skipped: 1,
  },
  replacedAt: null,
  settling: null,
  skipped: 0,
  rolls: [
    { written: { time: 1_700_000_000_000, offset: 10 }, heard: { time: 1_700_000_000_001, offset: 11 }, size: 100 },
  ],
  ...more,
});

const member = (user: string, more: Partial<CohortMember> = {}): CohortMember => ({
  user,
  inside: true,
  since: 1000,
  newest: { time: 1000, offset: 10 },
  offset: 10,
  ...more,
});

/** Membership of any size: read and written in parts, and never by a worker that lost its partition. */
export function describeCohortStore(name: string, make: () => Promise<UnderTest<CohortStore>>): void {
  describe(`${name} keeps the contract of cohorts`, () => {
    const { port: store, faults } = freshFor(make);
    const users = async (ref: Cohort, ...asked: string[]): Promise<readonly CohortMember[]> =>
      (await store().members(ref, asked)).toSorted((a, b) => (a.user < b.user ? -1 : 1));

    it('gives back a cohort as it was saved, and nothing for one that was not', async () => {
      const saved = cohort();
      expect(await store().load(saved)).toBeNull();
      expect(await store().save(saved)).toBe('done');
      expect(await store().load(saved)).toEqual(saved);
      expect(await store().load({ ...saved, cohort: 'other' })).toBeNull();
      expect(await store().load({ ...saved, workspace: 'other' })).toBeNull();
    });

    it('moves a cohort forwards, and refuses an older record, another log and another partition', async () => {
      const saved = cohort();
      await store().save(saved);
      expect(await store().save(saved)).toBe('done');
      expect(await store().save({ ...saved, offset: 12, name: 'newer' })).toBe('done');
      expect(await store().save({ ...saved, offset: 11 })).toBe('refused');
      expect(await store().save({ ...saved, offset: 99, logId: OTHER_LOG })).toBe('refused');
      expect(await store().save({ ...saved, offset: 99, partition: 4 })).toBe('refused');
      expect(await store().load(saved)).toEqual({ ...saved, offset: 12, name: 'newer' });
    });

    it('gives back the members that are known, inside and outside, of this cohort alone', async () => {
      const ref = cohort();
      const left = member('left', { inside: false, since: null });
      const odd = member('“quoted”\\ %_$ {} 名');
      expect(await store().saveMembers(ref, [member('ada'), left, odd])).toBe('done');
      expect(await users(ref, 'ada', 'left', 'nobody', odd.user)).toEqual([member('ada'), left, odd]);
      expect(await users({ ...ref, cohort: 'other' }, 'ada')).toEqual([]);
      expect(await users(ref)).toEqual([]);
      expect(await store().saveMembers(ref, [])).toBe('done');
    });

    it('keeps ids apart that look alike, and ids that are long', async () => {
      const integration = freshName('ids');
      const [a, b] = [cohort({ integration, cohort: 'a/b' }), cohort({ integration, cohort: 'a' })];
      const long = '名'.repeat(512);
      await store().save({ ...a, cohort: long });
      await store().saveMembers(a, [member('x')]);
      await store().saveMembers(b, [member('b/x'), member(long)]);
      expect(await users(b, 'x')).toEqual([]);
      expect(await users(a, 'x', 'b/x')).toEqual([member('x')]);
      expect(await users(b, long)).toEqual([member(long)]);
      expect(await store().load({ ...a, cohort: long })).toEqual({ ...a, cohort: long });
    });

    it('refuses a member that was written for a later record, keeps that, and writes the others', async () => {
      const ref = cohort();
      await store().saveMembers(ref, [member('ada', { offset: 20 }), member('bob', { offset: 5 })]);
      expect(await store().saveMembers(ref, [member('ada', { inside: false, since: null }), member('bob')])).toBe(
        'refused',
      );
      expect(await users(ref, 'ada', 'bob')).toEqual([member('ada', { offset: 20 }), member('bob')]);
      expect(await store().saveMembers(ref, [member('bob')])).toBe('done');
      expect(await store().saveMembers(ref, [member('ada', { offset: 20 }), member('bob')])).toBe('done');
    });

    it('ends with the latest of many that save one member at once', async () => {
      const ref = cohort();
      const saves = Array.from({ length: 20 }, (_, at) =>
        store().saveMembers(ref, [member('ada', { offset: (at * 7) % 20, since: (at * 7) % 20 })]),
      );
      await Promise.all(saves);
      expect(await users(ref, 'ada')).toEqual([member('ada', { offset: 19, since: 19 })]);
    });

    it('finds who is inside and was not spoken of since, the oldest first, at most as many as asked', async () => {
      const ref = cohort();
      const said = (user: string, time: number, offset: number, inside = true): CohortMember =>
        member(user, { inside, since: inside ? 1 : null, newest: { time, offset } });
      await store().saveMembers(ref, [
        said('newer', 200, 7),
        said('same time, later', 100, 6),
        said('the same', 100, 5),
        said('same time, earlier', 100, 4),
        said('older', 50, 9),
        said('oldest', 10, 1),
        said('left', 10, 1, false),
      ]);
      await store().saveMembers({ ...ref, cohort: 'other' }, [said('of another', 1, 1)]);
      const before = { time: 100, offset: 5 };
      const found = async (limit: number) => (await store().outdated(ref, before, limit)).map(({ user }) => user);
      expect(await found(10)).toEqual(['oldest', 'older', 'same time, earlier']);
      expect(await found(2)).toEqual(['oldest', 'older']);
      await store().saveMembers(ref, [said('oldest', 100, 5, false)]);
      expect(await found(10)).toEqual(['older', 'same time, earlier']);
    });

    it('counts who is inside', async () => {
      const ref = cohort();
      expect(await store().count(ref)).toBe(0);
      await store().saveMembers(ref, [member('ada'), member('bob'), member('left', { inside: false, since: null })]);
      await store().saveMembers({ ...ref, cohort: 'other' }, [member('cleo')]);
      expect(await store().count(ref)).toBe(2);
    });

    it('takes a thousand at once', async () => {
      const ref = cohort();
      const many = Array.from({ length: 1000 }, (_, at) => member(`user-${at}`));
      expect(await store().saveMembers(ref, many)).toBe('done');
      expect(
        await store().members(
          ref,
          many.map(({ user }) => user),
        ),
      ).toHaveLength(1000);
      expect(await store().count(ref)).toBe(1000);
    });

    it('lists the cohorts of an integration in pages', async () => {
      const integration = freshName('listed');
      const all = ['c', 'b', 'a'].map((id) => cohort({ integration, cohort: id }));
      for (const one of all) await store().save(one);
      await store().save(cohort({ integration, workspace: 'other' }));
      const first = await store().list('shop', integration, 2);
      expect(first.items).toEqual(all.slice(0, 2));
      const second = await store().list('shop', integration, 2, first.next ?? '');
      expect(second).toEqual({ items: all.slice(2), next: null });
      await expect(store().list('shop', integration, 2, 'no cursor')).rejects.toMatchObject({
        code: 'invalid_request',
      });
    });

    it('rejects while it cannot write, and goes on when it can', async ({ skip }) => {
      const broken = faults();
      if (!broken) return skip('this adapter has no faults to inject');
      const ref = cohort();
      await broken.breakWrites();
      await expect(store().saveMembers(ref, [member('ada')])).rejects.toThrow();
      await expect(store().save(ref)).rejects.toThrow();
      await broken.mendWrites();
      expect(await store().saveMembers(ref, [member('ada')])).toBe('done');
      expect(await store().save(ref)).toBe('done');
    });
  });
}
