import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findEngine } from '../../tools/images.ts';
import { scratch } from '../integration/product/shop.ts';
import { composed, findCompose, type Composed, type ServiceName } from './composed.ts';

const engine = await findEngine();
const compose = engine === null ? null : await findCompose(engine);
/** A process of a container is killed from outside, as the kernel would end it; others have no right to. */
const mayKill = process.getuid?.() === 0;

const KILLED: readonly ServiceName[] = [
  ...(['gateway', 'engine', 'delivery', 'control', 'kafka-1'] as const),
  ...(['mongodb', 'registry', 'delivery', 'engine', 'gateway'] as const),
];
const EVENTS = 'http://127.0.0.1:7400/events/shop/orders';

type Page<T> = { readonly items: readonly T[]; readonly next: string | null };
type Delivery = { readonly id: string; readonly to: string; readonly state: string };
type Message = { readonly to: string };

describe.skipIf(engine === null || compose === null || !mayKill)(
  'deploy/compose (needs root, and docker or podman with Compose 2.24 or newer)',
  () => {
    let place: Composed;
    let remove: () => Promise<void>;
    let key = '';
    const told: string[] = [];

    beforeAll(async () => {
      const { folder, ...rest } = await scratch();
      ({ remove } = rest);
      place = await composed(engine ?? 'podman', compose ?? [], folder);
      await place.down({ volumes: true });
      await place.up();
    }, 1_800_000);
    afterAll(async () => {
      await place.leave();
      await remove();
    }, 600_000);

    /** Posts until it is accepted, each time as the same request. */
    async function tell(name: string): Promise<void> {
      const body = { order_id: name, status: 'paid', total: 120, customer: { name, email: `${name}@example.com` } };
      for (let accepted = false; !accepted;) {
        accepted = await fetch(EVENTS, {
          method: 'POST',
          headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'idempotency-key': name },
          body: JSON.stringify(body),
          signal: AbortSignal.timeout(10_000),
        }).then(
          async (answer) => {
            await answer.arrayBuffer();
            return answer.status === 202;
          },
          () => false,
        );
        if (!accepted) await new Promise((resolve) => setTimeout(resolve, 500));
      }
      told.push(`${name}@example.com`);
    }

    async function all<T>(list: string): Promise<readonly T[]> {
      const items: T[] = [];
      let cursor: string | null = null;
      do {
        const after: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
        const page: Page<T> = await place.ask<Page<T>>(`/v1/workspaces/shop/${list}?limit=200${after}`);
        items.push(...page.items);
        cursor = page.next;
      } while (cursor !== null);
      return items;
    }

    /** Deliveries once each of `told` has one that nothing is left to do for. */
    async function settled(): Promise<readonly Delivery[]> {
      let deliveries: readonly Delivery[] = [];
      await expect
        .poll(
          async () => {
            deliveries = await all<Delivery>('deliveries');
            const ended = new Set(
              deliveries.filter(({ state }) => ['SENT', 'IN_DOUBT'].includes(state)).map(({ to }) => to),
            );
            return told.filter((address) => !ended.has(address));
          },
          { timeout: 600_000, interval: 2_000 },
        )
        .toEqual([]);
      return deliveries;
    }

    it('starts the whole product, with the owner’s link in the log, and takes the demo', async () => {
      expect(await place.logs('control')).toMatch(/sign in once: http:\/\/127\.0\.0\.1:7401\/welcome#\S+/);
      await place.carillon('apply', '-f', '/app/demo');
      key = /cln_\S+/.exec(await place.carillon('api-key', 'create', 'backend', '--workspace', 'shop'))?.[0] ?? '';
      await tell('first');
      expect(await settled()).toMatchObject([{ to: 'first@example.com', state: 'SENT' }]);
      expect(await all<Message>('inbox')).toMatchObject([{ to: 'first@example.com' }]);
      // What a role tells of itself is seconds old.
      await expect.poll(() => place.carillon('doctor').catch(String), { timeout: 120_000 }).not.toMatch(/^(?!ok\b)\S/m);
    }, 600_000);

    it('brings each container back that is killed, loses no event that it accepted, and tells nobody twice', async () => {
      let killing = true;
      const posting = (async () => {
        for (let n = 0; killing; n++) {
          await tell(`reader-${String(n)}`);
          await new Promise((resolve) => setTimeout(resolve, 100));
        }
      })();
      try {
        for (const service of KILLED) await place.kill(service);
      } finally {
        killing = false;
        await posting;
      }
      const deliveries = await settled();
      const messages = (await all<Message>('inbox')).map(({ to }) => to);
      console.log(
        `${String(told.length)} told over ${String(KILLED.length)} kills, ` +
          `${String(deliveries.filter(({ state }) => state === 'IN_DOUBT').length)} in doubt`,
      );
      expect(deliveries.map(({ to }) => to).toSorted(), 'one delivery each').toEqual(told.toSorted());
      expect(messages.toSorted(), 'no message twice').toEqual([...new Set(messages)].toSorted());
      const sent = deliveries.filter(({ state }) => state === 'SENT').map(({ to }) => to);
      expect(
        sent.filter((address) => !messages.includes(address)),
        'each that counts as sent is there',
      ).toEqual([]);
    }, 3_600_000);

    it('keeps what it knows over down and up', async () => {
      const before = await all<Delivery>('deliveries');
      await place.down();
      await place.up();
      expect(await all<Delivery>('deliveries')).toEqual(before);
      await tell('last');
      expect((await settled()).length).toBe(before.length + 1);
    }, 1_800_000);
  },
);
