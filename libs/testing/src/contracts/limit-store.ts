import type { SentEntry, SentToPerson } from '@carillon/domain';
import type { DeliveryId, TriggerId } from '@carillon/kernel';
import type { LimitStore } from '@carillon/ports';
import { describe, expect, it } from 'vitest';
import { allPages } from './pages.ts';
import { freshFor, freshName, type UnderTest } from './under-test.ts';

const entry = (token: string, more: Partial<SentEntry> = {}): SentEntry => ({
  deliveryId: `dlv_${token}` as DeliveryId,
  token,
  triggerId: `trg_${token}` as TriggerId,
  notificationId: 'ntf_paid',
  category: null,
  channel: 'email',
  at: 1,
  sure: false,
  ...more,
});

const document = (
  workspace: string,
  person: string,
  revision: string,
  more: Partial<SentToPerson> = {},
): SentToPerson => ({ workspace, person, revision, entries: [entry('a')], keptUntil: 10, ...more });

export function describeLimitStore(name: string, make: () => Promise<UnderTest<LimitStore>>): void {
  describe(`${name} keeps the contract of a store of limits`, () => {
    const { port: store } = freshFor(make);

    it('finds the document of a person by workspace and name, as it was written', async () => {
      const workspace = freshName('shop');
      const ada = document(workspace, 'ada@example.com', 'r1', {
        entries: [entry('a', { category: 'orders', sure: true }), entry('b', { channel: 'sms', at: 2 })],
      });
      expect(await store().find(workspace, 'ada@example.com')).toBeNull();
      expect(await store().replace(ada, null)).toBe('done');
      expect(await store().find(workspace, 'ada@example.com')).toEqual(ada);
      expect(await store().find(workspace, 'ADA@example.com')).toBeNull();
      expect(await store().find(freshName('other'), 'ada@example.com')).toBeNull();
    });

    it('takes a write only over the revision that it was made from', async () => {
      const workspace = freshName('shop');
      const first = document(workspace, 'ada', 'r1');
      const second = document(workspace, 'ada', 'r2', { entries: [] });
      expect(await store().replace(second, 'r1')).toBe('stale');
      expect(await store().find(workspace, 'ada')).toBeNull();
      expect(await store().replace(first, null)).toBe('done');
      expect(await store().replace(second, null)).toBe('stale');
      expect(await store().replace(second, 'r0')).toBe('stale');
      expect(await store().find(workspace, 'ada')).toEqual(first);
      expect(await store().replace(second, 'r1')).toBe('done');
      expect(await store().replace(document(workspace, 'ada', 'r3'), 'r1')).toBe('stale');
      expect(await store().find(workspace, 'ada')).toEqual(second);
    });

    it('lets one of many writers of a revision through, the first as well as a later one', async () => {
      const workspace = freshName('shop');
      for (const before of [null, 'r0']) {
        const person = `person of ${before}`;
        if (before !== null) await store().replace(document(workspace, person, before), null);
        const many = Array.from({ length: 8 }, (_, at) => document(workspace, person, `r${at + 1}`));
        const answers = await Promise.all(many.map((one) => store().replace(one, before)));
        expect(answers.filter((answer) => answer === 'done')).toHaveLength(1);
        expect(await store().find(workspace, person)).toEqual(many[answers.indexOf('done')]);
      }
    });

    it('holds a document of a thousand entries', async () => {
      const workspace = freshName('shop');
      const entries = Array.from({ length: 1000 }, (_, at) => entry(`t${at}`, { at }));
      const long = document(workspace, 'ada', 'r1', { entries });
      await store().replace(long, null);
      expect(await store().find(workspace, 'ada')).toEqual(long);
    });

    it('turns pages that neither repeat nor skip while others arrive and are written', async () => {
      const workspace = freshName('shop');
      const made = Array.from({ length: 5 }, (_, at) => `person ${at}`);
      for (const person of made) await store().replace(document(workspace, person, 'r0'), null);
      let revision = 0;
      const seen = await allPages(
        (cursor) => store().list(workspace, 2, cursor),
        async () => {
          await store().replace(document(workspace, freshName('new'), 'r0'), null);
          await store().replace(document(workspace, 'person 0', `r${revision + 1}`), `r${revision}`);
          revision += 1;
        },
      );
      const persons = seen.map(({ person }) => person).filter((person) => made.includes(person));
      expect(persons.toSorted()).toEqual(made);
      expect((await store().list(undefined, 3)).items).toHaveLength(3);
    });
  });
}
