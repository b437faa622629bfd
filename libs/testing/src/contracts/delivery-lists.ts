import type { Delivery, DeliveryState } from '@carillon/domain/deliveries';
import type { DeliveryId } from '@carillon/kernel';
import { MAX_MANY, type DeliveryFilter, type DeliveryLedger } from '@carillon/ports';
import { expect, it } from 'vitest';
import { countsAreWhatRowsSay } from './counted-deliveries.ts';
import type { DeliveryFacts } from './delivery-samples.ts';
import { freshName } from './under-test.ts';

const ids = (deliveries: readonly Delivery[]): readonly string[] => deliveries.map(({ id }) => id);

function manyDeliveriesById(ledger: () => DeliveryLedger, put: (facts: DeliveryFacts) => Promise<Delivery>): void {
  it('returns the deliveries of a thousand ids, each once, without those that do not exist', async () => {
    const made = [await put({}), await put({ state: 'SENT', nextAt: null }), await put({})];
    const unknown = Array.from({ length: MAX_MANY - 4 }, () => freshName('dlv') as DeliveryId);
    const asked = made.map(({ id }) => id);
    const found = await ledger().many([...asked, ...unknown, ...asked.slice(0, 1)]);
    expect(found).toHaveLength(3);
    expect(new Map(found.map((delivery) => [delivery.id, delivery]))).toEqual(
      new Map(made.map((delivery) => [delivery.id, delivery])),
    );
    expect(await ledger().many([])).toEqual([]);
    const [first] = made;
    if (!first) throw new Error('nothing was put');
    const sent = { ...first, version: 2, state: 'SENT', nextAt: null } as const;
    expect(await ledger().replace(sent)).toBe('done');
    expect(await ledger().many([first.id])).toEqual([sent]);
  });
}

/** A part of the contract of a ledger: lists by many filters, and counts over time. `put` inserts a delivery. */
export function manyFiltersAndCounts(
  ledger: () => DeliveryLedger,
  put: (facts: DeliveryFacts) => Promise<Delivery>,
): void {
  it('finds by several filters at once, across workspaces too, and pages through several states in one order', async () => {
    const [shop, club, rule] = [freshName('shop'), freshName('club'), freshName('rule')];
    const states = ['SENT', 'FAILED', 'BOUNCED'] as const;
    const made: string[] = [];
    for (let at = 0; at < 9; at += 1) {
      const facts = { slot: { workspace: at % 2 === 0 ? shop : club }, intent: { rule, person: rule } };
      made.unshift((await put({ ...facts, state: states[at % 3] ?? 'SENT', nextAt: null, createdAt: 100 + at })).id);
    }
    const pages: string[] = [];
    for (let cursor: string | undefined; ;) {
      const page = await ledger().list({ states: ['SENT', 'BOUNCED'], rule }, 2, cursor);
      pages.push(...ids(page.items));
      if (page.next === null) break;
      cursor = page.next;
    }
    expect(pages).toEqual(made.filter((_id, place) => (8 - place) % 3 !== 1));
    const found = await ledger().list({ workspace: shop, states, person: rule, since: 102, before: 106 }, 10);
    expect(ids(found.items)).toEqual([made[4], made[6]]);
  });

  it('finds by reason and person what is new, moved on and accepted, also of who is known by the address alone', async () => {
    const workspace = freshName('reasons');
    const [address, person] = [`${freshName('ada')}@example.com`, freshName('person')];
    const alone = await put({ slot: { workspace }, intent: { to: address, person: address }, createdAt: 10 });
    const named = await put({ slot: { workspace }, intent: { to: address, person }, createdAt: 20 });
    const ended = { state: 'SUPPRESSED', reason: 'no_address', nextAt: null, createdAt: 30 } as const;
    const without = await put({ slot: { workspace }, intent: { to: null, person: address }, ...ended });
    const found = async (filter: DeliveryFilter): Promise<readonly string[]> =>
      ids((await ledger().list({ workspace, ...filter }, 10)).items);
    expect(await found({ person: address })).toEqual([without.id, alone.id]);
    expect(await found({ person })).toEqual([named.id]);
    expect(await found({ reasons: ['new'] })).toEqual([named.id, alone.id]);
    await ledger().replace({ ...alone, version: 2, state: 'SENDING', nextAt: null, leaseUntil: 20 });
    await ledger().replace({ ...named, version: 2, reason: 'throttled' });
    expect(await found({ reasons: ['new'] })).toEqual([alone.id]);
    expect(await found({ reasons: ['throttled'] })).toEqual([named.id]);
    const accepted = { state: 'SENT', reason: 'accepted', nextAt: null, leaseUntil: null } as const;
    await ledger().replace({ ...alone, version: 3, ...accepted });
    await ledger().replace({ ...named, version: 3, ...accepted });
    expect(await found({ reasons: ['new', 'throttled'] })).toEqual([]);
    expect(await found({ reasons: ['accepted'] })).toEqual([named.id, alone.id]);
    expect(await found({ reasons: ['accepted', 'no_address'], person: address })).toEqual([without.id, alone.id]);
  });

  it('lists what waits in one order, whether it is new, was held or is being tried again', async () => {
    const workspace = freshName('waits');
    const reasons = ['new', 'quiet_hours', 'throttled'] as const;
    const made: string[] = [];
    for (let at = 0; at < 7; at += 1) {
      made.unshift((await put({ slot: { workspace }, reason: reasons[at % 3] ?? 'new', createdAt: 100 + at })).id);
    }
    const pages: string[] = [];
    for (let cursor: string | undefined; ;) {
      const page = await ledger().list({ workspace, states: ['WAITING'] }, 2, cursor);
      pages.push(...ids(page.items));
      if (page.next === null) break;
      cursor = page.next;
    }
    expect(pages).toEqual(made);
  });

  it('counts over time what is in each state now, of one workspace, of a notification, and by people', async () => {
    const workspace = freshName('counted');
    const tell = (createdAt: number, state: DeliveryState, notification: string, person: string) =>
      put({ slot: { workspace }, intent: { notification, person }, state, nextAt: null, createdAt });
    await tell(999, 'SENT', 'paid', 'too early');
    const moved = await tell(1000, 'SENDING', 'paid', 'ada');
    await tell(1050, 'FAILED', 'paid', 'bob');
    await tell(1099, 'SENT', 'shipped', 'ada');
    await tell(1100, 'SENT', 'paid', 'eve');
    await tell(1250, 'SENT', 'paid', 'too late');
    await put({ slot: { workspace: freshName('other') }, createdAt: 1000 });
    await ledger().replace({ ...moved, version: 2, state: 'SENT' });
    const span = { workspace, since: 1000, before: 1250 };
    const overTime = async (of: typeof span & { readonly notification?: string }): Promise<readonly string[]> =>
      (await ledger().countOverTime(of, 100)).map((one) => `${one.at} ${one.state} ${one.deliveries}`).toSorted();
    expect(await overTime(span)).toEqual(['1000 FAILED 1', '1000 SENT 2', '1100 SENT 1']);
    expect(await overTime({ ...span, notification: 'paid' })).toEqual(['1000 FAILED 1', '1000 SENT 1', '1100 SENT 1']);
    const named = (await ledger().countByNotification(span)).map((one) => Object.values(one).join(' '));
    expect(named.map((text) => text.split(' ').toSorted().join(' ')).toSorted()).toEqual([
      '1 FAILED paid',
      '1 SENT shipped',
      '2 SENT paid',
    ]);
    expect(await ledger().countPeople(span, ['SENT'])).toBe(2);
    expect(await ledger().countPeople(span, ['SENT', 'FAILED'])).toBe(3);
    expect(await ledger().countOverTime({ ...span, workspace: freshName('nobody') }, 100)).toEqual([]);
  });

  manyDeliveriesById(ledger, put);
  countsAreWhatRowsSay(ledger);
}
