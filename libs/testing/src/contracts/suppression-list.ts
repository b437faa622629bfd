import type { Suppression, SuppressionList } from '@carillon/ports';
import { describe, expect, it } from 'vitest';
import { allPages } from './pages.ts';
import { freshFor, freshName, type UnderTest } from './under-test.ts';

const suppression = (workspace: string, address: string, more: Partial<Suppression> = {}): Suppression => ({
  workspace,
  channel: 'email',
  address,
  source: 'hard_bounce',
  detail: '550 5.1.1',
  deliveryId: 'dlv_1',
  at: 1,
  ...more,
});

export function describeSuppressionList(name: string, make: () => Promise<UnderTest<SuppressionList>>): void {
  describe(`${name} keeps the contract of a suppression list`, () => {
    const { port: list } = freshFor(make);

    it('finds an address by workspace and channel, and keeps the older reason', async () => {
      const workspace = freshName('shop');
      const first = suppression(workspace, 'ada@example.com');
      await list().add(first);
      await list().add({ ...first, source: 'operator', detail: 'later', deliveryId: null, at: 2 });
      expect(await list().find(workspace, 'email', 'ada@example.com')).toEqual(first);
      expect(await list().find(workspace, 'sms', 'ada@example.com')).toBeNull();
      expect(await list().find(freshName('other'), 'email', 'ada@example.com')).toBeNull();
    });

    it('forgets an address that is removed, once', async () => {
      const workspace = freshName('shop');
      await list().add(suppression(workspace, 'ada@example.com'));
      expect(await list().remove(workspace, 'email', 'ada@example.com')).toBe(true);
      expect(await list().remove(workspace, 'email', 'ada@example.com')).toBe(false);
      expect(await list().find(workspace, 'email', 'ada@example.com')).toBeNull();
    });

    it('turns pages that neither repeat nor skip while others arrive', async () => {
      const workspace = freshName('shop');
      const made = Array.from({ length: 5 }, (_, at) => `${at}@example.com`);
      for (const address of made) await list().add(suppression(workspace, address));
      const seen = await allPages(
        (cursor) => list().list(workspace, 2, cursor),
        () => list().add(suppression(workspace, `${freshName('new')}@example.com`, { at: 9 })),
      );
      const addresses = seen.map(({ address }) => address).filter((address) => made.includes(address));
      expect(addresses.toSorted()).toEqual(made);
      expect(new Set(seen.map(({ address }) => address)).size).toBe(seen.length);
      expect((await list().list(undefined, 3)).items).toHaveLength(3);
    });
  });
}
