import { settingsFor, startClusterServices, type ClusterServices } from '@carillon/testing/cluster';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../../support/requirements.ts';
import { faultsOf, fillLists, readEveryList } from './every-list.ts';
import { openFilledShop, type FilledShop } from './filled-shop.ts';

for (const backend of ['embedded', 'cluster'] as const) {
  const needed = backend === 'cluster' ? (['kafka', 'mongodb', 'registry'] as const) : [];
  describeWith(needed, `Every list of the management API on ${backend}`, () => {
    let services: ClusterServices | undefined;
    let shop: FilledShop;
    beforeAll(async () => {
      if (backend === 'cluster') services = await startClusterServices();
      shop = await openFilledShop(services && settingsFor(services));
      await fillLists(shop);
    }, 900_000);
    afterAll(async () => {
      await shop.close();
      await services?.stop();
    }, 600_000);

    it('shows each row once, in the order of the whole list', async () => {
      const lists = await readEveryList(shop);
      expect(lists.length).toBeGreaterThan(40);
      expect(faultsOf(lists)).toEqual([]);
      expect(lists.filter(({ whole }) => whole.length > 1).length).toBeGreaterThan(20);
    }, 600_000);
  });
}
