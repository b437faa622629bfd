import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { COMPOSE_FOLDER } from '@carillon/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findEngine } from '../../tools/images.ts';
import { scratch } from '../integration/product/shop.ts';
import { composedShop, type ComposedShop, type Delivery, type Message } from './composed-shop.ts';
import { composed, findCompose, type Composed, type ServiceName } from './composed.ts';

const engine = await findEngine();
const compose = engine === null ? null : await findCompose(engine);
/** A process of a container is killed from outside, as the kernel would end it; others have no right to. */
const mayKill = process.getuid?.() === 0;

const KILLED: readonly ServiceName[] = [
  ...(['gateway', 'engine', 'delivery', 'control', 'kafka-1'] as const),
  ...(['mongodb', 'registry', 'delivery', 'engine', 'gateway'] as const),
];

type Panel = { readonly title: string; readonly targets?: readonly { readonly expr: string }[] };
const dashboard = JSON.parse(readFileSync(join(COMPOSE_FOLDER, '../dashboards/carillon.json'), 'utf8')) as {
  readonly panels: readonly Panel[];
};

/** How many series Prometheus answers a panel with. */
async function figuresOf({ targets = [] }: Panel): Promise<number> {
  let series = 0;
  for (const { expr } of targets) {
    const query = encodeURIComponent(expr.replaceAll('$__rate_interval', '1m'));
    const answer = await fetch(`http://127.0.0.1:9090/api/v1/query?query=${query}`);
    const { data } = (await answer.json()) as { readonly data?: { readonly result: readonly unknown[] } };
    series += data?.result.length ?? 0;
  }
  return series;
}

describe.skipIf(engine === null || compose === null || !mayKill)(
  'deploy/compose (needs root, and docker or podman with Compose 2.24 or newer)',
  () => {
    let place: Composed;
    let shop: ComposedShop;
    let remove: () => Promise<void>;

    beforeAll(async () => {
      const { folder, ...rest } = await scratch();
      ({ remove } = rest);
      place = await composed(engine ?? 'podman', compose ?? [], folder);
      shop = composedShop(place);
      await place.down({ volumes: true });
      await place.up('prometheus');
    }, 1_800_000);
    afterAll(async () => {
      await place.leave();
      await remove();
    }, 600_000);

    it('starts the whole product, with the owner’s link in the log, and takes the demo', async () => {
      expect(await place.logs('control')).toMatch(/sign in once: http:\/\/127\.0\.0\.1:7401\/welcome#\S+/);
      await shop.open();
      await shop.tell('first');
      expect(await shop.settled()).toMatchObject([{ to: 'first@example.com', state: 'SENT' }]);
      expect(await shop.all<Message>('inbox')).toMatchObject([{ to: 'first@example.com' }]);
      // What a role tells of itself is seconds old.
      await expect
        .poll(() => shop.troubles(), { timeout: 120_000 })
        .toEqual([expect.stringMatching(/^FAIL +Kafka copies: single_broker/)]);
    }, 600_000);

    it('has figures for the dashboard: Prometheus reaches each role, and answers its panels', async () => {
      const shown = dashboard.panels.filter(({ targets = [] }) => targets.length > 0);
      const filled = async (): Promise<readonly string[]> => {
        const figures = await Promise.all(shown.map(async (panel) => [panel.title, await figuresOf(panel)] as const));
        return figures.filter(([, series]) => series > 0).map(([title]) => title);
      };
      await expect
        .poll(() => figuresOf({ title: '', targets: [{ expr: 'up == 1' }] }), { timeout: 240_000, interval: 2_000 })
        .toBe(4);
      await shop.tellDuring('figure', async () => {
        await expect
          .poll(async () => (await filled()).length, { timeout: 240_000, interval: 5_000 })
          .toBeGreaterThan(shown.length / 2);
      });
      const titles = await filled();
      console.log(
        `${titles.length} of ${shown.length} panels have figures; none: ${shown
          .map(({ title }) => title)
          .filter((title) => !titles.includes(title))
          .join(', ')}`,
      );
    }, 900_000);

    it('restarts each killed container, loses no accepted event, and notifies nobody twice', async () => {
      await shop.tellDuring('reader', async () => {
        for (const service of KILLED) await place.kill(service);
      });
      await shop.expectEachOnce();
    }, 3_600_000);

    it('keeps what it knows over down and up', async () => {
      const before = await shop.all<Delivery>('deliveries');
      await place.down();
      await place.up();
      expect(await shop.all<Delivery>('deliveries')).toEqual(before);
      await shop.tell('last');
      expect((await shop.settled()).length).toBe(before.length + 1);
    }, 1_800_000);
  },
);
