import type { Delivery, DeliveryState, TestSend } from '@carillon/domain/deliveries';
import { stringifyJson, type DeliveryId, type EventId } from '@carillon/kernel';
import type { DeliveryFilter, DeliveryLedger, DueDelivery } from '@carillon/ports';
import { describe, expect, it } from 'vitest';
import { manyFiltersAndCounts } from './delivery-lists.ts';
import { deliveryOf, outcomeOf, type DeliveryFacts } from './delivery-samples.ts';
import { outcomesOfMoves } from './told-moves.ts';
import { freshFor, freshName, type UnderTest } from './under-test.ts';

/** Contract of the ledger: one document per slot, moved by one writer at a time, as promise 4 requires. */
export function describeDeliveryLedger(name: string, make: () => Promise<UnderTest<DeliveryLedger>>): void {
  describe(`${name} keeps the contract of a delivery ledger`, () => {
    const { port: ledger, faults } = freshFor(make);
    const put = async (facts: DeliveryFacts): Promise<Delivery> => {
      const delivery = deliveryOf(facts);
      expect(await ledger().insert([delivery])).toEqual([{ inserted: true }]);
      return delivery;
    };
    const ids = (deliveries: readonly Delivery[]): readonly string[] => deliveries.map(({ id }) => id);
    const dueIds = (due: readonly DueDelivery[]): readonly string[] => due.map(({ delivery }) => delivery.id);

    it('gives back the whole document, integers beyond 2^53 too', async () => {
      const delivery = await put({
        intent: { variables: { total: 9_007_199_254_740_993n, name: 'Grüße', none: null } },
      });
      expect(await ledger().get(delivery.id)).toEqual(delivery);
      expect(await ledger().get('dlv_unknown' as DeliveryId)).toBeNull();
    });

    it('never overwrites: who comes second is told who holds the slot', async () => {
      const holder = await put({});
      const rival = deliveryOf({ id: holder.id, slot: holder.slot, detail: 'rival' });
      expect(await ledger().insert([rival])).toEqual([{ inserted: false, holder }]);
      expect(await ledger().get(holder.id)).toEqual(holder);
    });

    it('keeps a slot single even for another id', async () => {
      const holder = await put({});
      const other = deliveryOf({ slot: holder.slot });
      expect(await ledger().insert([other])).toEqual([{ inserted: false, holder }]);
      expect(await ledger().get(other.id)).toBeNull();
    });

    it('lets the first of two inserts of a slot in one call win, and takes the others', async () => {
      const [first, free] = [deliveryOf(), deliveryOf()];
      const second = deliveryOf({ id: first.id, slot: first.slot });
      const answers = await ledger().insert([first, second, free]);
      expect(answers).toEqual([{ inserted: true }, { inserted: false, holder: first }, { inserted: true }]);
      expect(await ledger().insert([])).toEqual([]);
    });

    it('answers the same holders however often a batch comes again, and takes what is new among them', async () => {
      const [one, two] = [deliveryOf(), deliveryOf()];
      const batch = [one, two, ...Array.from({ length: 28 }, () => deliveryOf())];
      expect(await ledger().insert(batch)).toEqual(batch.map(() => ({ inserted: true })));
      for (let time = 0; time < 3; time += 1) {
        const fresh = deliveryOf();
        const again = batch.map((holder) => deliveryOf({ id: holder.id, slot: holder.slot, detail: 'again' }));
        expect(await ledger().insert([fresh, ...again, { ...fresh, detail: 'again' }])).toEqual([
          { inserted: true },
          ...batch.map((holder) => ({ inserted: false, holder })),
          { inserted: false, holder: fresh },
        ]);
        const [otherId, otherSlot, free] = [deliveryOf({ slot: one.slot }), deliveryOf({ id: two.id }), deliveryOf()];
        expect(await ledger().insert([otherId, otherSlot, free])).toEqual([
          { inserted: false, holder: one },
          { inserted: false, holder: two },
          { inserted: true },
        ]);
        expect(await ledger().get(otherId.id)).toBeNull();
      }
    });

    it('has one winner when many insert one slot at once', async () => {
      const first = deliveryOf();
      const rivals = Array.from({ length: 20 }, (_, at) =>
        deliveryOf({ id: first.id, slot: first.slot, detail: String(at) }),
      );
      const answers = (await Promise.all(rivals.map((rival) => ledger().insert([rival])))).flat();
      expect(answers.filter(({ inserted }) => inserted)).toHaveLength(1);
      const holder = await ledger().get(first.id);
      for (const answer of answers) if (!answer.inserted) expect(answer.holder).toEqual(holder);
    });

    it('replaces the version that was read, and no other', async () => {
      const first = await put({});
      const claimed: Delivery = { ...first, version: 2, state: 'SENDING', token: 'a', nextAt: null, leaseUntil: 130 };
      expect(await ledger().replace(claimed)).toBe('done');
      expect(await ledger().replace({ ...claimed, token: 'b' })).toBe('stale');
      expect(await ledger().replace({ ...claimed, version: 4 })).toBe('stale');
      expect(await ledger().get(first.id)).toEqual(claimed);
      expect(await ledger().replace({ ...deliveryOf(), version: 2 })).toBe('stale');
    });

    it.each([false, true])('has one winner when many claim one delivery at once, together: %s', async (together) => {
      const [first, ...others] = [await put({}), await put({}), await put({})];
      const claim = (one: Delivery, at: number) =>
        ledger().replace({ ...one, version: 2, state: 'SENDING', token: String(at), leaseUntil: 130 }, { together });
      const claims = Array.from({ length: 20 }, (_, at) => claim(first, at));
      expect(await Promise.all(others.map(claim))).toEqual(['done', 'done']);
      const winners = (await Promise.all(claims)).flatMap((answer, at) => (answer === 'done' ? [String(at)] : []));
      expect(winners).toHaveLength(1);
      expect((await ledger().get(first.id))?.token).toBe(winners[0]);
    });

    it('finds what is due in a workspace, earliest first', async () => {
      const workspace = freshName('due');
      const late = await put({ slot: { workspace }, nextAt: 90 });
      const early = await put({ slot: { workspace }, nextAt: 10 });
      await put({ slot: { workspace }, nextAt: 101 });
      await put({ slot: { workspace }, state: 'SENT', nextAt: null });
      expect(dueIds(await ledger().due(workspace, 100, 10))).toEqual([early.id, late.id]);
      expect(dueIds(await ledger().due(workspace, 100, 1))).toEqual([early.id]);
    });

    it('says of what is due how much it takes, so that nobody has to measure it', async () => {
      const workspace = freshName('sizes');
      await put({ slot: { workspace }, nextAt: 10 });
      const [found] = await ledger().due(workspace, 100, 10);
      expect(found?.bytes).toBeGreaterThanOrEqual(stringifyJson(found?.delivery.intent ?? {}).length);
      expect(found?.bytes).toBeLessThanOrEqual(2 * stringifyJson(found?.delivery ?? {}).length);
    });

    it('names the workspaces that have something due, and the time of the next one', async () => {
      const [due, later, idle] = [freshName('a'), freshName('b'), freshName('c')];
      await put({ slot: { workspace: due }, nextAt: 7 });
      await put({ slot: { workspace: due }, nextAt: 8 });
      await put({ slot: { workspace: later }, nextAt: 500 });
      await put({ slot: { workspace: idle }, state: 'SENT', nextAt: null });
      const named = await ledger().dueWorkspaces(100);
      expect(named.filter((workspace) => [due, later, idle].includes(workspace))).toEqual([due]);
      expect(new Set(named).size).toBe(named.length);
      expect(await ledger().nextDueAt(100)).toBeLessThanOrEqual(7);
      expect(await ledger().nextDueAt(-9e15)).toBeNull();
      const earliest = freshName('earliest');
      await put({ slot: { workspace: earliest }, nextAt: -8e15 });
      expect(await ledger().nextDueAt(-8e15)).toBe(-8e15);
      expect(await ledger().nextDueAt(-8e15 - 1)).toBeNull();
    });

    it('finds what waits in a workspace or for a notification, due or not, page by page, and nothing else', async () => {
      const workspace = freshName('waits');
      const waits = (notificationId: string, nextAt: number) => put({ slot: { workspace, notificationId }, nextAt });
      const paid: Delivery[] = [];
      // Several share a time, so that the time alone would not do for a cursor.
      for (let at = 0; at < 5; at += 1) paid.push(await waits('paid', 9e12 + Math.floor(at / 3)));
      const other = await waits('posted', 10);
      await put({ slot: { workspace, notificationId: 'paid' }, state: 'SENT', nextAt: null });
      await put({ slot: { workspace, notificationId: 'paid' }, state: 'COLLECTED', nextAt: 20 });
      await put({ slot: { workspace: freshName('else'), notificationId: 'paid' } });
      const read = async (of: { notificationId?: string }, limit: number): Promise<readonly string[]> => {
        const seen: string[] = [];
        let cursor: string | undefined;
        do {
          const page = await ledger().waiting({ workspace, ...of }, limit, cursor);
          expect(page.items.length).toBeLessThanOrEqual(limit);
          seen.push(...ids(page.items));
          cursor = page.next ?? undefined;
        } while (cursor !== undefined);
        return seen.toSorted();
      };
      expect(await read({ notificationId: 'paid' }, 2)).toEqual(ids(paid).toSorted());
      expect(await read({ notificationId: 'posted' }, 2)).toEqual([other.id]);
      expect(await read({}, 4)).toEqual(ids([...paid, other]).toSorted());
      expect(await read({ notificationId: 'never' }, 2)).toEqual([]);
    });

    it('goes on through what waits while what was seen moves', async () => {
      const workspace = freshName('moving');
      const made: Delivery[] = [];
      for (let at = 0; at < 6; at += 1) made.push(await put({ slot: { workspace, notificationId: 'n' }, nextAt: 100 }));
      const seen: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await ledger().waiting({ workspace, notificationId: 'n' }, 2, cursor);
        seen.push(...ids(page.items));
        // Stored as due now, or as ended.
        for (const [at, one] of page.items.entries()) {
          await ledger().replace({
            ...one,
            version: 2,
            ...(at === 0 ? { nextAt: 1 } : { state: 'SENT', nextAt: null }),
          });
        }
        cursor = page.next ?? undefined;
      } while (cursor !== undefined);
      expect(seen.toSorted()).toEqual(ids(made).toSorted());
    });

    it('follows a delivery through its states in every list', async () => {
      const workspace = freshName('moves');
      const waiting = await put({ slot: { workspace }, nextAt: 10 });
      const sending: Delivery = { ...waiting, version: 2, state: 'SENDING', nextAt: null, leaseUntil: 20 };
      await ledger().replace(sending);
      expect(await ledger().due(workspace, 100, 10)).toEqual([]);
      expect(ids(await ledger().leaseExpired(21, 1000))).toContain(waiting.id);
      expect(ids(await ledger().leaseExpired(20, 1000))).not.toContain(waiting.id);
      await ledger().replace({ ...sending, version: 3, state: 'IN_DOUBT', leaseUntil: null });
      expect(ids(await ledger().leaseExpired(1000, 1000))).not.toContain(waiting.id);
      expect(ids((await ledger().list({ workspace, states: ['IN_DOUBT'] }, 10)).items)).toEqual([waiting.id]);
      expect((await ledger().list({ workspace, states: ['WAITING'] }, 10)).items).toEqual([]);
    });

    it('finds by what a replacement says of recipient, person and rule, and no longer by what was said before', async () => {
      const first = deliveryOf();
      await ledger().insert([first]);
      const { workspace } = first.slot;
      const to = `${first.id.toLowerCase()}@elsewhere.example.com`;
      const intent = { ...first.intent, to, person: `person ${first.id}`, rule: 'order-paid.other' };
      expect(await ledger().replace({ ...first, version: first.version + 1, intent })).toBe('done');
      const found = async (filter: DeliveryFilter): Promise<boolean> =>
        (await ledger().list({ workspace, ...filter }, 500)).items.some(({ id }) => id === first.id);
      expect(await found({ to: [to] })).toBe(true);
      expect(await found({ person: intent.person })).toBe(true);
      expect(await found({ rule: intent.rule })).toBe(true);
      expect(await found({ rule: first.intent.rule })).toBe(false);
      expect(await found({ person: first.intent.person })).toBe(false);
    });

    it('finds outcomes that are not on the log yet, until they are', async () => {
      const plain = deliveryOf({ updatedAt: 60 });
      const first: Delivery = { ...plain, unpublished: [outcomeOf(plain)] };
      await ledger().insert([first]);
      expect(ids(await ledger().unpublished(61, 1000))).toContain(first.id);
      expect(ids(await ledger().unpublished(60, 1000))).not.toContain(first.id);
      await ledger().replace({ ...first, version: 2, unpublished: [] });
      expect(ids(await ledger().unpublished(1000, 1000))).not.toContain(first.id);
    });

    outcomesOfMoves(ledger, put);

    it('lists newest first by any filter', async () => {
      const workspace = freshName('list');
      const eventId = freshName('evt') as EventId;
      const old = await put({ slot: { workspace }, createdAt: 10 });
      const odd = await put({
        slot: { workspace, channel: 'sms', uniqueId: 'odd' },
        intent: {
          to: 'bob@example.com',
          eventId,
          notification: 'odd',
          rule: 'odd.paid',
          person: 'p_bob',
          test: { by: 'owner' },
        },
        createdAt: 20,
        state: 'FAILED',
        reason: 'refused_content',
        nextAt: null,
      });
      const all = async (filter: DeliveryFilter): Promise<readonly string[]> =>
        ids((await ledger().list({ workspace, ...filter }, 10)).items);
      expect(await all({})).toEqual([odd.id, old.id]);
      for (const filter of [
        { states: ['FAILED'] },
        { states: ['FAILED', 'SENT'] },
        { reasons: ['refused_content'] },
        { reasons: ['refused_content', 'throttled'] },
        { channels: ['sms'] },
        { channels: ['sms', 'push'] },
        { person: 'p_bob' },
        { rule: 'odd.paid' },
        { test: true },
        { to: ['bob@example.com'] },
        { to: ['nobody', 'bob@'] },
        { to: ['nobody', 'bob@example.com'], toIsWhole: true },
        { uniqueId: 'odd' },
        { eventId },
        { notification: 'odd' },
        { since: 20 },
      ] as const) {
        expect(await all(filter), JSON.stringify(filter)).toEqual([odd.id]);
      }
      for (const filter of [
        { before: 20 },
        { test: false },
        { states: ['WAITING'] },
        { channels: ['email'] },
      ] as const) {
        expect(await all(filter), JSON.stringify(filter)).toEqual([old.id]);
      }
      expect(await all({ states: ['FAILED', 'WAITING'] })).toEqual([odd.id, old.id]);
      expect(await all({ states: ['FAILED'], to: ['ada@example.com'] })).toEqual([]);
      for (const filter of [{ states: [] }, { reasons: [] }, { channels: [] }] as const) {
        expect(await all(filter), JSON.stringify(filter)).toEqual([]);
      }
      expect(await all({ to: ['Bob@'] })).toEqual([]);
      expect(await all({ to: [] })).toEqual([]);
      expect(await all({ to: ['bob@'], toIsWhole: true })).toEqual([]);
      expect(await all({ to: [], toIsWhole: true })).toEqual([]);
      expect(ids(await ledger().byEvent(eventId))).toEqual([odd.id]);
    });

    it('lists what is in a state of one workspace, and of all of them, newest first', async () => {
      const [shop, club] = [freshName('shop'), freshName('club')];
      const ended = (workspace: string, createdAt: number) =>
        put({
          slot: { workspace },
          state: 'COMPLAINED',
          nextAt: null,
          createdAt,
          intent: { to: `${shop}@example.com` },
        });
      const newest = 7e15;
      const one = await ended(shop, newest + 1);
      const two = await ended(club, newest + 2);
      const three = await ended(shop, newest + 3);
      await put({ slot: { workspace: shop }, createdAt: newest + 4 });
      const list = async (filter: DeliveryFilter, limit = 3) => ids((await ledger().list(filter, limit)).items);
      expect(await list({ workspace: shop, states: ['COMPLAINED'] })).toEqual([three.id, one.id]);
      expect(await list({ states: ['COMPLAINED'] })).toEqual([three.id, two.id, one.id]);
      const { next } = await ledger().list({ states: ['COMPLAINED'] }, 1);
      expect(ids((await ledger().list({ states: ['COMPLAINED'] }, 1, next ?? undefined)).items)).toEqual([two.id]);
      expect(await list({ states: ['COMPLAINED'], to: [`${shop}@`] })).toEqual([three.id, two.id, one.id]);
      expect(await list({ workspace: club, states: ['COMPLAINED'], uniqueId: two.slot.uniqueId })).toEqual([two.id]);
    });

    it('turns pages that neither repeat nor skip while others arrive', async () => {
      const workspace = freshName('pages');
      const made: string[] = [];
      // Several share a time, so that the time alone would not do for a cursor.
      for (let at = 0; at < 7; at += 1)
        made.push((await put({ slot: { workspace }, createdAt: 10 + Math.floor(at / 3) })).id);
      const seen: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await ledger().list({ workspace }, 2, cursor);
        expect(page.items.length).toBeLessThanOrEqual(2);
        seen.push(...ids(page.items));
        cursor = page.next ?? undefined;
        await put({ slot: { workspace }, createdAt: 100 });
      } while (cursor !== undefined);
      expect(seen).toHaveLength(7);
      expect(new Set(seen)).toEqual(new Set(made));
    });

    it('lists all workspaces together, newest first, page by page, and finds addresses by any of several beginnings', async () => {
      const [shop, club] = [freshName('shop'), freshName('club')];
      // Newer than whatever else is in the store.
      const newest = 8e15;
      const made: string[] = [];
      for (let at = 0; at < 6; at += 1) {
        const to = `${at % 3 === 0 ? 'zoe' : 'yan'}.${shop}@example.com`;
        const slot = { workspace: at % 2 === 0 ? shop : club };
        made.unshift((await put({ slot, intent: { to }, createdAt: newest + at })).id);
      }
      const first = await ledger().list({}, 4);
      expect(ids(first.items)).toEqual(made.slice(0, 4));
      await put({ slot: { workspace: shop }, createdAt: newest + 100 });
      const second = await ledger().list({ since: newest }, 4, first.next ?? undefined);
      expect(ids(second.items)).toEqual(made.slice(4));
      expect(second.next).toBeNull();
      const found = await ledger().list({ to: [`zoe.${shop}`, `yan.${shop}@example.com`] }, 10);
      expect(ids(found.items)).toEqual(made);
      expect(ids((await ledger().list({ to: [`zoe.${shop}`] }, 10)).items)).toEqual([made[2], made[5]]);
    });

    it('counts the addresses that a notification told, each once, and those of its workspace', async () => {
      const workspace = freshName('told');
      const tell = (notificationId: string, to: string | null, state: DeliveryState, test?: TestSend) =>
        put({ slot: { workspace, notificationId }, intent: { to, ...(test && { test }) }, state, nextAt: null });
      await tell('paid', 'ada@example.com', 'SENT');
      await tell('paid', 'ada@example.com', 'DELIVERED');
      await tell('paid', 'bob@example.com', 'FAILED');
      await tell('paid', null, 'SENT');
      await tell('shipped', 'eve@example.com', 'SENT');
      // The recipient of a test message does not count.
      await tell('paid', 'me@example.com', 'SENT', { by: 'owner' });
      const told = (notificationId?: string) =>
        ledger().countAddresses({ workspace, ...(notificationId && { notificationId }) }, ['SENT', 'DELIVERED']);
      expect([await told('paid'), await told('shipped'), await told('never'), await told()]).toEqual([1, 1, 0, 2]);
    });

    manyFiltersAndCounts(ledger, put);

    it('counts by state, moves included', async () => {
      const before = await ledger().countByState();
      const first = await put({});
      await put({});
      await ledger().replace({ ...first, version: 2, state: 'SENT', nextAt: null });
      const after = await ledger().countByState();
      expect((after.WAITING ?? 0) - (before.WAITING ?? 0)).toBe(1);
      expect((after.SENT ?? 0) - (before.SENT ?? 0)).toBe(1);
    });

    it('rejects while it cannot write, and a token tells afterwards what happened', async ({ skip }) => {
      const broken = faults();
      if (!broken) return skip('this adapter has no faults to inject');
      const first = await put({});
      const claimed: Delivery = { ...first, version: 2, state: 'SENDING', token: 'mine', leaseUntil: 130 };
      await broken.breakWrites();
      await expect(ledger().replace(claimed)).rejects.toThrow();
      await expect(ledger().insert([deliveryOf()])).rejects.toThrow();
      await broken.mendWrites();
      const held = await ledger().get(first.id);
      if (held?.token !== 'mine') expect(await ledger().replace(claimed)).toBe('done');
      expect((await ledger().get(first.id))?.token).toBe('mine');
    });
  });
}
