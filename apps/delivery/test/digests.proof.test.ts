import { template } from '@carillon/testing/given';
import { untilFound } from '@carillon/testing/topology';
import { afterEach, expect, it } from 'vitest';
import { startDelivery, type DeliveryPorts, type DeliveryRole } from '../src/index.ts';
import { RoleUnderTest } from './delivery-role.ts';

const ROLES = 4;
const ITEMS = 10_000;
const KEYS = 100;
const BATCH_SIZE = 50;
/** One of the roles is killed whenever so many more items have come. */
const KILLED_EACH = 1_000;
const HOUR = 3_600_000;
/** Longer than a lease, and than it takes until somebody looks for items that nobody listed. */
const LATER = 61_000;
const DIGEST = { subject: '{{count}} orders', text: '{{#each items}}{{order_id}} {{/each}}' };

type Mortal = { readonly role: DeliveryRole; readonly kill: () => Promise<void> };

let under: RoleUnderTest;
const lives: Mortal[] = [];
afterEach(async () => {
  await Promise.all(lives.splice(0).map(({ role }) => role.close()));
  await under.close();
});

/** A role whose process can be killed: from then on nothing that it does reaches anybody, and what is under way is cut off anywhere. */
async function launch(): Promise<Mortal> {
  let dead = false;
  const over = <Store extends object>(store: Store): Store =>
    new Proxy(store, {
      get(target, key) {
        const own: unknown = Reflect.get(target, key);
        if (typeof own !== 'function') return own;
        return (...given: readonly unknown[]): unknown => {
          if (dead) return Promise.reject(new Error('killed'));
          const answer: unknown = Reflect.apply(own, target, given);
          // What was written may be done; nobody is there to hear of it.
          if (!(answer instanceof Promise)) return answer;
          return answer.then((said: unknown) => {
            if (dead) throw new Error('killed');
            return said;
          });
        };
      },
    });
  const { ports } = under;
  const own: DeliveryPorts = {
    ...ports,
    ledger: over(ports.ledger),
    digestHeads: over(ports.digestHeads),
    watch: { ...ports.watch, trouble: () => undefined },
  };
  const role = await startDelivery({ aloneOnStore: false }, own);
  return {
    role,
    async kill() {
      dead = true;
      await role.close().catch(() => undefined);
    },
  };
}

it(`puts each of ${ITEMS} items over ${KEYS} keys into one digest, while one of ${ROLES} roles is killed repeatedly`, async () => {
  under = await RoleUnderTest.open({ partitions: ROLES });
  const { topology } = under;
  await under.shop({}, 'shop', 8);
  await topology.publish(template('orders-digest', { email: DIGEST }));
  await under.change({
    cadence: { digest: { window: { fixed: '1h' }, key: 'event.project', max_items: 500, template: 'orders-digest' } },
  });
  await topology.evaluates();
  for (let n = 0; n < ROLES; n += 1) lives.push(await launch());
  let kills = 0;
  for (let from = 0; from < ITEMS; from += BATCH_SIZE) {
    await Promise.all(
      Array.from({ length: BATCH_SIZE }, (_, at) => {
        const n = from + at;
        const customer = { email: 'ada@example.com', name: 'Ada' };
        const body = { status: 'paid', order_id: `A-${n}`, total: 1, project: `p-${n % KEYS}`, customer };
        return topology.event(body, { stream: 'shop/orders' });
      }),
    );
    if (from % KILLED_EACH !== 0) continue;
    await lives.shift()?.kill();
    lives.push(await launch());
    kills += 1;
  }
  const count = (): Promise<Partial<Record<string, number>>> => topology.data.ledger.countByState();
  const open = async (): Promise<number> => {
    const { WAITING = 0, SENDING = 0, COLLECTED = 0 } = await count();
    return WAITING + SENDING + COLLECTED;
  };
  await untilFound(
    'all items came in',
    async () => {
      const all = Object.values(await count()).reduce<number>((sum, many = 0) => sum + many, 0);
      return all >= ITEMS || undefined;
    },
    600_000,
  );
  // Windows are closed by roles that are killed as well.
  topology.clock.pass(HOUR);
  for (let n = 0; n < ROLES; n += 1) {
    await lives.shift()?.kill();
    lives.push(await launch());
    kills += 1;
  }
  await untilFound(
    'all have ended',
    async () => {
      if ((await open()) === 0) return true;
      topology.clock.pass(LATER);
      return undefined;
    },
    600_000,
  );
  const all = (await topology.data.ledger.list({}, 2 * ITEMS)).items;
  const digests = all.filter(({ intent }) => intent.digest);
  const items = all.filter(({ intent }) => !intent.digest);
  const listed = digests.flatMap(({ id, intent }) =>
    (intent.digest?.items ?? []).map(({ deliveryId }) => `${deliveryId} in ${id}`),
  );
  expect(items).toHaveLength(ITEMS);
  expect(new Set(items.map(({ state }) => state))).toEqual(new Set(['DIGESTED']));
  expect(listed.toSorted()).toEqual(items.map(({ id, digestedIn }) => `${id} in ${digestedIn}`).toSorted());
  const fates = digests.map(({ state }) => state);
  expect(fates.filter((state) => state !== 'SENT' && state !== 'IN_DOUBT')).toEqual([]);
  const told = under.mail.accepted.flatMap(({ raw }) => raw.match(/A-\d+/g) ?? []);
  expect(told.length, 'no item is told of twice').toBe(new Set(told).size);
  console.info(
    `${digests.length} digests, ${fates.filter((state) => state === 'IN_DOUBT').length} in doubt, ${kills} kills`,
  );
}, 1_800_000);
