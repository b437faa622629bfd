import { settingsFor, startClusterServices, type ClusterServices } from '@carillon/testing/cluster';
import { afterAll, beforeAll } from 'vitest';
import { openShop, type Shop } from '../product/shop.ts';
import { connectForeignProgram, type ForeignProgram } from './foreign-program.ts';

/** Starting three servers and the product, on a machine that has other things to do. */
export const TIMEOUT = 300_000;

export type ShopOnCluster = {
  readonly services: ClusterServices;
  /** `carillon up` on them, with the shop in it. */
  readonly shop: Shop;
  /** Another program with access to the same broker. */
  readonly foreign: ForeignProgram;
};

/** The same for all tests of a block. */
export function useShopOnCluster(): () => ShopOnCluster {
  let started: ShopOnCluster | undefined;
  const ends: (() => Promise<void>)[] = [];
  beforeAll(async () => {
    const services = await startClusterServices();
    ends.push(() => services.stop());
    const shop = await openShop({ env: settingsFor(services) });
    ends.push(() => shop.close());
    const foreign = await connectForeignProgram(services.kafka.brokers);
    ends.push(() => foreign.leave());
    started = { services, shop, foreign };
  }, TIMEOUT);
  afterAll(async () => {
    for (const end of ends.toReversed()) await end();
  }, TIMEOUT);
  return () => {
    if (!started) throw new Error('only within a test');
    return started;
  };
}
