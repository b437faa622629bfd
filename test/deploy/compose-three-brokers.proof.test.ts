import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findEngine } from '../../tools/images.ts';
import { scratch } from '../integration/product/shop.ts';
import { composedShop } from './composed-shop.ts';
import { composed, findCompose, type Composed } from './composed.ts';

const engine = await findEngine();
const compose = engine === null ? null : await findCompose(engine);
const mayKill = process.getuid?.() === 0;

describe.skipIf(engine === null || compose === null || !mayKill)(
  'deploy/compose with three brokers (needs root, and docker or podman with Compose 2.24 or newer)',
  () => {
    let place: Composed;
    let remove: () => Promise<void>;

    beforeAll(async () => {
      const { folder, ...rest } = await scratch();
      ({ remove } = rest);
      place = await composed(engine ?? 'podman', compose ?? [], folder, { brokers: 3 });
      await place.down({ volumes: true });
      await place.up();
    }, 1_800_000);
    afterAll(async () => {
      await place.leave();
      await remove();
    }, 600_000);

    it('keeps three copies, and loses nothing and notifies nobody twice while each broker is killed in turn', async () => {
      const shop = composedShop(place);
      await shop.open();
      await shop.tell('first');
      await shop.settled();
      // It compares copies, and says what is missing of them.
      await expect.poll(() => shop.troubles(), { timeout: 120_000 }).toEqual([]);
      await shop.tellDuring('reader', async () => {
        for (const broker of ['kafka-2', 'kafka-1', 'kafka-3'] as const) await place.kill(broker);
      });
      await shop.expectEachOnce();
    }, 3_600_000);
  },
);
