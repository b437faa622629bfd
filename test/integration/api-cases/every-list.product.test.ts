import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { faultsOf, fillLists, readEveryList } from './every-list.ts';
import { openFilledShop, type FilledShop } from './filled-shop.ts';

/* The same on Kafka and MongoDB is a proof. */

describe('Every list of the management API, read page by page', () => {
  let shop: FilledShop;
  beforeAll(async () => {
    shop = await openFilledShop();
    await fillLists(shop);
  }, 300_000);
  afterAll(() => shop.close());

  it('shows each row once, in the order of the whole list', async () => {
    const lists = await readEveryList(shop);
    expect(lists.length).toBeGreaterThan(40);
    expect(faultsOf(lists)).toEqual([]);
    expect(lists.filter(({ whole }) => whole.length > 1).length).toBeGreaterThan(20);
  }, 300_000);
});
