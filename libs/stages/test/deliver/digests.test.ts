import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openDelivery, type Delivery } from '@carillon/domain/deliveries';
import {
  collectFor,
  digestItem,
  digestSlot,
  emptyHead,
  itemOf,
  listItem,
  type Collected,
  type DigestHead,
} from '@carillon/domain/digests';
import type { DeliveryId } from '@carillon/kernel';
import { at, givenIntent, HOUR, ORDER_PAID, orderShop } from '@carillon/testing/given';
import { openTopology, type Topology } from '@carillon/testing/topology';
import { closeWindows, collectForDigest, headIdOf, listUnlisted, type DigestPorts } from '../../src/index.ts';

const HEAD = 'dgh_1';
type Held = Delivery & { readonly collected: Collected };

let topology: Topology;
let made: Delivery[] = [];
let sizes: number[] = [];
beforeEach(async () => {
  topology = await openTopology({ partitions: 1 });
  made = [];
  sizes = [];
  const [rule] = Object.values(ORDER_PAID.rules);
  if (!rule) throw new Error('there is a rule');
  const cadence = { digest: { window: { fixed: '1h' } } } as const;
  await topology.publish(
    ...orderShop({ ...ORDER_PAID, cadence, id: 'ntf_paid', rules: { paid: { ...rule, id: 'rul_paid' } } }),
  );
});
afterEach(() => topology.close());

const portsOf = (): DigestPorts => ({
  ...topology.ports,
  digestMade: ({ delivery, bytes }) => {
    made.push(delivery);
    sizes.push(bytes);
  },
});
const now = () => at(topology.clock.now());

function collected(name: string): Held {
  const intent = givenIntent(name, { uniqueId: name, causedAt: topology.clock.now(), variables: { order_id: name } });
  const opened = openDelivery(intent, 'p', `dlv_${name}` as DeliveryId, now());
  const next = collectFor(opened, { head: HEAD, n: 0, token: `t ${name}` }, 'for a digest', now());
  if (!next?.collected) throw new Error('not collected');
  return { ...next, collected: next.collected };
}

/** A window of an hour that lists them. */
async function listed(...items: readonly Held[]): Promise<DigestHead> {
  const closesAt = topology.clock.now() + HOUR;
  let head = emptyHead(HEAD, givenIntent('a').slot);
  for (const item of items) {
    const settings = { opened: { closesAt, slide: null }, maxItems: 100 };
    const listing = listItem(head, itemOf(item), 0, settings, topology.clock.now());
    if (listing.kind === 'listed') head = { ...listing.next, version: 1 };
  }
  expect(await topology.data.digestHeads.replace(head)).toBe('done');
  return head;
}

const nameOf = ({ intent }: Delivery): DeliveryId =>
  digestSlot(emptyHead(HEAD, intent.slot), { intentId: intent.id, nth: 1 }, (...parts) => topology.ids.keyed(...parts))
    .id;
const isIn = (item: Held, digest: DeliveryId): Delivery => {
  const step = digestItem(item, itemOf(item), digest, now());
  if (step.kind !== 'digested') throw new Error(step.kind);
  return step.next;
};
/** A digest that a newer folder made, as a restore carries it over. */
const carried = (item: Delivery, state: 'SENT' | 'FAILED'): Delivery => {
  const intent = givenIntent('before', { digest: { head: HEAD, n: 0, items: [] } });
  return { ...openDelivery(intent, '', nameOf(item), now()), state, nextAt: null };
};
const get = async ({ id }: Delivery) => {
  const found = await topology.data.ledger.get(id);
  if (!found) throw new Error(`no ${id}`);
  return found;
};
const toldOf = (): readonly (readonly DeliveryId[])[] =>
  made.map(({ intent }) => (intent.digest?.items ?? []).map(({ deliveryId }) => deliveryId));

async function emptied(head: DigestHead, helpers = 1): Promise<void> {
  topology.clock.pass(HOUR);
  await Promise.all(Array.from({ length: helpers }, () => closeWindows(head, false, portsOf())));
  expect(await topology.data.digestHeads.get(HEAD)).toMatchObject({ n: 1, closing: null, items: [] });
}

describe('a digest window that a restored backup has as open, although its digest was already sent', () => {
  it.each([1, 3])('sends the messages added since in a separate digest, with %i workers', async (helpers) => {
    const [a, c, d] = [collected('a'), collected('c'), collected('d')] as const;
    await topology.data.ledger.insert([isIn(a, nameOf(a)), carried(a, 'SENT'), c, d]);
    await emptied(await listed(a, c, d), helpers);
    expect(toldOf()).toEqual([[c.id, d.id]]);
    expect(await get(a)).toMatchObject({ state: 'DIGESTED', digestedIn: nameOf(a) });
    for (const item of [c, d]) expect(await get(item)).toMatchObject({ state: 'DIGESTED', digestedIn: nameOf(c) });
  });

  it('does not send a message again, wherever it is on the list', async () => {
    const [a, c] = [collected('a'), collected('c')] as const;
    await topology.data.ledger.insert([isIn(a, nameOf(a)), carried(a, 'SENT'), c]);
    await emptied(await listed(c, a));
    expect(toldOf()).toEqual([[c.id]]);
  });

  it.each([1, 3])(
    'sends a message whose digest failed before the restore in a new digest, with %i workers',
    async (helpers) => {
      const [a, c] = [collected('a'), collected('c')] as const;
      await topology.data.ledger.insert([carried(a, 'FAILED'), a, c]);
      await emptied(await listed(a, c), helpers);
      expect(toldOf()).toEqual([[a.id, c.id]]);
      expect(made[0]?.id).not.toBe(nameOf(a));
      for (const item of [a, c]) expect(await get(item)).toMatchObject({ state: 'DIGESTED', digestedIn: made[0]?.id });
    },
  );

  it('makes no digest if all of its messages were sent', async () => {
    const a = collected('a');
    await topology.data.ledger.insert([isIn(a, nameOf(a)), carried(a, 'SENT')]);
    await emptied(await listed(a));
    expect(made).toEqual([]);
  });
});

describe('a digest window whose process died while closing it', () => {
  it('gets the digest that its messages name, although the digest was not yet stored', async () => {
    const [a, c] = [collected('a'), collected('c')] as const;
    await topology.data.ledger.insert([isIn(a, nameOf(a)), c]);
    await emptied(await listed(a, c), 3);
    expect(toldOf()).toEqual([[a.id, c.id]]);
    expect(made[0]?.id).toBe(nameOf(a));
  });

  it('gets a digest with the values of all messages; a bare variable name is the newest value', async () => {
    const note = 'x'.repeat(100_000);
    const items = ['a', 'b', 'c'].map((name) => {
      const item = collected(name);
      return { ...item, intent: { ...item.intent, variables: { note } } };
    });
    await topology.data.ledger.insert(items);
    await emptied(await listed(...items));
    expect(sizes).toHaveLength(1);
    expect(sizes[0]).toBeGreaterThan(400_000);
  });
});

describe('the list of messages of a digest, if it cannot be written', () => {
  const broken = new Error('the store is away');
  /** Its store fails at the write that `fails` says, after it is done or instead of it. */
  function failing(fails: (head: string, nth: number) => boolean, isDone = false) {
    const tried: string[] = [];
    const { digestHeads } = topology.ports;
    const replace: typeof digestHeads.replace = async (next) => {
      tried.push(next.id);
      if (!fails(next.id, tried.length)) return digestHeads.replace(next);
      if (isDone) await digestHeads.replace(next);
      throw broken;
    };
    return { tried, ports: { ...portsOf(), digestHeads: { ...digestHeads, replace } } };
  }
  const waiting = (name: string): Delivery =>
    openDelivery(givenIntent(name, { uniqueId: name }), 'p', `dlv_${name}` as DeliveryId, now());

  it('is tried twice, because only the response may be lost, and then the error is reported', async () => {
    await topology.data.ledger.insert([waiting('a')]);
    const { tried, ports } = failing(() => true);
    await expect(collectForDigest([waiting('a')], '', ports)).rejects.toBe(broken);
    expect(tried).toHaveLength(2);
    expect(await get(waiting('a'))).toMatchObject({ state: 'COLLECTED' });
  });

  it('has a message once if only the response of the write was lost', async () => {
    await topology.data.ledger.insert([waiting('a')]);
    const { tried, ports } = failing((_head, nth) => nth === 1, true);
    expect(await collectForDigest([waiting('a')], '', ports)).toHaveLength(1);
    expect(tried).toHaveLength(1);
    const [head] = (await topology.data.digestHeads.list(10)).items;
    expect(head?.items).toHaveLength(1);
  });

  it('is reported by the sweeper, which continues with other lists', async () => {
    const stuck = collected('a');
    const other = { ...collected('b'), collected: { head: 'dgh_2', n: 0, token: 't b' } };
    const elsewhere = { ...other, intent: { ...other.intent, to: 'bob@example.com' } };
    await topology.data.ledger.insert([stuck, elsewhere]);
    topology.clock.pass(31_000);
    const stuckHead = headIdOf(stuck, topology.ids);
    const { ports } = failing((head) => head === stuckHead);
    const told: [string, unknown][] = [];
    expect(await listUnlisted(ports, (where, error) => void told.push([where, error]))).toBe(2);
    expect(told).toEqual([[expect.stringContaining('list items of digest head'), broken]]);
    expect((await get(elsewhere)).nextAt).toBeNull();
    expect((await get(stuck)).nextAt).not.toBeNull();
  });

  it('does not block other digests, however many messages cannot be listed', async () => {
    // As many as the sweep reads at once.
    const stuck = Array.from({ length: 200 }, (_, index) => collected(`s${index}`));
    const other = { ...collected('b'), collected: { head: 'dgh_2', n: 0, token: 't b' } };
    const elsewhere = { ...other, intent: { ...other.intent, to: 'bob@example.com' } };
    await topology.data.ledger.insert([...stuck, elsewhere]);
    topology.clock.pass(31_000);
    const [first] = stuck;
    const stuckHead = first && headIdOf(first, topology.ids);
    const { ports } = failing((head) => head === stuckHead);
    const sweepOnce = () => listUnlisted(ports, () => undefined);
    expect([await sweepOnce(), await sweepOnce(), await sweepOnce()]).toEqual([200, 1, 0]);
    expect((await get(elsewhere)).nextAt).toBeNull();
    // What could not be listed comes again.
    topology.clock.pass(60_000);
    expect(await sweepOnce()).toBe(200);
  });
});
