import { setTimeout as pause } from 'node:timers/promises';
import type { Delivery } from '@carillon/domain/deliveries';
import { isCarillonError } from '@carillon/kernel';
import type { DeliveryLedger } from '@carillon/ports';
import { deliveryOf, freshName, untilFound } from '@carillon/testing';
import { startFerretDb, type FerretDbService } from '@carillon/testing/services';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../../../../test/support/requirements.ts';
import { openMongo, type MongoStores } from '../src/index.ts';
import { wallClock } from './open-mongo.ts';

const WRITERS = 24;

describeWith('mongodb', 'MongoDB that is killed while all stores are written', () => {
  let service: FerretDbService;
  let stores: readonly MongoStores[];
  // Patience shorter than the outages, so that writes do reject and their outcome is unknown.
  const open = (): Promise<MongoStores> =>
    openMongo({ url: service.url, database: 'carillon-crash', clock: wallClock, patience: 100 });
  beforeAll(async () => {
    service = await startFerretDb();
    stores = [await insist(open), await insist(open)];
  }, 300_000);
  afterAll(async () => {
    for (const one of stores) await one.close();
    await service.stop();
  });

  let rejections = 0;
  /** Until it answers: what a stage does, which comes again with the same record. */
  async function insist<Answer>(operation: () => Promise<Answer>): Promise<Answer> {
    for (;;) {
      try {
        return await operation();
      } catch (error) {
        if (!isCarillonError(error) || error.code !== 'store_unavailable') throw error;
        rejections += 1;
        await pause(20);
      }
    }
  }

  /** Until everybody has come round once more, as far as one can tell from a number. */
  async function more(what: string, count: () => number): Promise<void> {
    const before = count();
    await untilFound(`more is ${what}`, () => count() >= before + WRITERS || undefined);
  }

  /**
   * Inserts and claims a delivery. The token in the document decides whether the claim succeeded, whatever the call
   * returned.
   */
  async function deliver(ledger: DeliveryLedger, delivery: Delivery, token: string): Promise<boolean> {
    await insist(() => ledger.insert([delivery]));
    const claim: Delivery = { ...delivery, version: 2, state: 'SENDING', token, nextAt: null, leaseUntil: 130 };
    const told = await ledger.replace(claim).catch((error: unknown) => {
      if (!isCarillonError(error)) throw error;
      rejections += 1;
      return 'unknown' as const;
    });
    const held = await insist(() => ledger.get(delivery.id));
    if (told === 'done') expect(held?.token).toBe(token);
    if (held?.version === 2) return held.token === token;
    await insist(() => ledger.replace(claim));
    return (await insist(() => ledger.get(delivery.id)))?.token === token;
  }

  it('is abandoned while it does not respond, and used again when it responds', async () => {
    const opening = { url: service.url, database: 'carillon-silent', clock: wallClock, patience: 300, silence: 500 };
    const hasty = await insist(() => openMongo(opening));
    const first = deliveryOf();
    await insist(() => hasty.ledger.insert([first]));
    const claim: Delivery = { ...first, version: 2, state: 'SENDING', token: 'mine', nextAt: null, leaseUntil: 130 };
    await service.parts.postgres.kill('SIGSTOP');
    await service.parts.ferretDb.kill('SIGSTOP');
    const begun = performance.now();
    await expect(hasty.ledger.replace(claim)).rejects.toMatchObject({ code: 'store_unavailable' });
    await expect(hasty.ledger.get(first.id)).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(performance.now() - begun).toBeLessThan(60_000);
    await service.parts.ferretDb.kill('SIGCONT');
    await service.parts.postgres.kill('SIGCONT');
    // The claim was read after all, or it was not, or will be only now; the token says which.
    const held = await insist(() => hasty.ledger.get(first.id));
    if (held?.token !== 'mine') await insist(() => hasty.ledger.replace(claim));
    expect((await insist(() => hasty.ledger.get(first.id)))?.token).toBe('mine');
    await hasty.close();
  });

  it('loses no acknowledged write, and lets no delivery be claimed twice', async () => {
    const delivered: { readonly id: Delivery['id']; readonly tokens: readonly string[] }[] = [];
    let over = false;
    const write = async (writer: number): Promise<void> => {
      for (let turn = 0; !over; turn += 1) {
        const delivery = deliveryOf({ slot: { uniqueId: freshName(`crash-${writer}`) } });
        const claims = await Promise.all(
          stores.map(async ({ ledger }, at) => {
            const token = `${writer}.${turn}.${at}`;
            return (await deliver(ledger, delivery, token)) ? [token] : [];
          }),
        );
        delivered.push({ id: delivery.id, tokens: claims.flat() });
      }
    };
    const writers = Array.from({ length: WRITERS }, (_, at) => write(at));
    const { postgres, ferretDb } = service.parts;
    for (const victims of [[postgres], [ferretDb], [postgres, ferretDb], [postgres], [ferretDb]]) {
      await more('delivered', () => delivered.length);
      await Promise.all(victims.map((victim) => victim.kill()));
      await more('refused', () => rejections);
      for (const victim of victims) await victim.restart();
    }
    await more('delivered', () => delivered.length);
    over = true;
    await Promise.all(writers);
    expect(rejections).toBeGreaterThan(WRITERS);
    expect(delivered.length).toBeGreaterThan(WRITERS);
    const [calm] = stores;
    const wrong: string[] = [];
    for (const { id, tokens } of delivered) {
      const held = await insist(async () => calm?.ledger.get(id));
      if (tokens.length !== 1 || held?.version !== 2 || held.token !== tokens[0]) wrong.push(`${id} ${tokens.join()}`);
    }
    expect(wrong).toEqual([]);
    expect(await calm?.ledger.countByState()).toEqual({ SENDING: delivered.length });
  }, 300_000);
});
