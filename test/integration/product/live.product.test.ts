import { afterAll, beforeAll, describe, it } from 'vitest';
import { followShop } from './live-story.ts';
import { openShop, type Shop } from './shop.ts';

let shop: Shop & { close(): Promise<void> };
beforeAll(async () => {
  shop = await openShop();
});
afterAll(() => shop.close());

describe('The live streams of a running product', () => {
  it('send what the lists show, resume after a disconnect, mask addresses, and end with their token', () =>
    followShop(shop));
});
