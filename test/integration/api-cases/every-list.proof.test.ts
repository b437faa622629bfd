import { settingsFor, startClusterServices, type ClusterServices } from '@carillon/testing/cluster';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../../support/requirements.ts';
import { faultsOf, fillLists, readEveryList } from './every-list.ts';
import { openFilledShop, type FilledShop } from './filled-shop.ts';

describeWith(['kafka', 'mongodb', 'registry'], 'Every list of the management API on a cluster', () => {
  let services: ClusterServices;
  let shop: FilledShop;
  beforeAll(async () => {
    services = await startClusterServices();
    shop = await openFilledShop(settingsFor(services));
    await fillLists(shop);
  }, 900_000);
  afterAll(async () => {
    await shop.close();
    await services.stop();
  }, 600_000);

  it('shows each row once, in the order of the whole list', async () => {
    const lists = await readEveryList(shop);
    expect(faultsOf(lists)).toEqual([]);
    expect(lists.filter(({ whole }) => whole.length > 1).length).toBeGreaterThan(20);
  }, 600_000);
});
