import { it } from 'vitest';
import { describeWith } from '../../support/requirements.ts';
import { followShop } from '../product/live-story.ts';
import { TIMEOUT, useShopOnCluster } from './shop-on-cluster.ts';

describeWith(['kafka', 'mongodb', 'registry'], 'The live streams of a product on a cluster', () => {
  const on = useShopOnCluster();

  it(
    'send what the lists show, resume after a disconnect, mask addresses, and end with their token',
    () => followShop(on().shop),
    TIMEOUT,
  );
});
