import type { Delivery } from '@carillon/domain/deliveries';
import type { DeliveryId } from '@carillon/kernel';
import { deliveryOf, freshName } from '@carillon/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import type { MongoStores } from '../src/index.ts';
import { describeWith } from '../../../../test/support/requirements.ts';
import { proxyUrl, usePlayground } from './open-mongo.ts';
import { taskOf } from './task-of.ts';

describeWith('mongodb', 'the stores in MongoDB under contention', () => {
  const playground = usePlayground();
  const LEASE = 130;

  const claimOf = (delivery: Delivery, token: string): Delivery => ({
    ...delivery,
    version: delivery.version + 1,
    state: 'SENDING',
    token,
    nextAt: null,
    leaseUntil: LEASE,
  });

  describe('two processes on one database', () => {
    let one: MongoStores;
    let other: MongoStores;
    beforeAll(async () => {
      const database = playground.database();
      [one, other] = [await playground.open({ database }), await playground.open({ database })];
    });

    it('claim each delivery once', async () => {
      const workspace = freshName('claims');
      await one.ledger.insert(Array.from({ length: 60 }, () => deliveryOf({ slot: { workspace } })));
      const claimed: string[] = [];
      const work = async ({ ledger }: MongoStores, name: string): Promise<void> => {
        for (
          let due = await ledger.due(workspace, 100, 20);
          due.length > 0;
          due = await ledger.due(workspace, 100, 20)
        ) {
          const answers = await Promise.all(due.map(({ delivery }) => ledger.replace(claimOf(delivery, name))));
          claimed.push(...due.filter((_one, at) => answers[at] === 'done').map(({ delivery }) => delivery.id));
        }
      };
      await Promise.all([work(one, 'one'), work(other, 'other'), work(one, 'third')]);
      expect(claimed).toHaveLength(60);
      expect(new Set(claimed).size).toBe(60);
    });

    it('claim each delivery once with combined writes, and know which claims are their own', async () => {
      const deliveries = Array.from({ length: 150 }, () => deliveryOf());
      await one.ledger.insert(deliveries);
      const claimAll = async ({ ledger }: MongoStores, name: string): Promise<readonly string[]> => {
        const answers = await Promise.all(
          deliveries.map((delivery) => ledger.replace(claimOf(delivery, name), { together: true })),
        );
        return deliveries.filter((_one, at) => answers[at] === 'done').map(({ id }) => id);
      };
      const [ofOne, ofOther] = await Promise.all([claimAll(one, 'one'), claimAll(other, 'other')]);
      expect([...ofOne, ...ofOther].toSorted()).toEqual(deliveries.map(({ id }) => id).toSorted());
      const held = await Promise.all(deliveries.map(({ id }) => other.ledger.get(id)));
      expect(held.filter((found) => found?.token === 'one').map((found) => found?.id)).toEqual(ofOne);
    });

    it('make each of twenty concurrent state changes once', async () => {
      const { id } = deliveryOf();
      await one.ledger.insert([deliveryOf({ id })]);
      const step = async ({ ledger }: MongoStores): Promise<void> => {
        for (;;) {
          const read = await ledger.get(id);
          if (!read) throw new Error('it is gone');
          const next = { ...read, version: read.version + 1, duplicates: read.duplicates + 1 };
          if ((await ledger.replace(next)) === 'done') return;
        }
      };
      await Promise.all(Array.from({ length: 20 }, (_, at) => step(at % 2 === 0 ? one : other)));
      expect(await one.ledger.get(id)).toMatchObject({ version: 21, duplicates: 20 });
    });

    it('store one of many deliveries for the same message', async () => {
      const uniqueId = freshName('slot');
      const rivals = Array.from({ length: 32 }, () => deliveryOf({ slot: { uniqueId } }));
      const inserts = rivals.map((rival, at) => (at % 2 === 0 ? one : other).ledger.insert([rival]));
      const answers = (await Promise.all(inserts)).flat();
      expect(answers.filter(({ inserted }) => inserted)).toHaveLength(1);
      const { items } = await one.ledger.list({ uniqueId }, 10);
      expect(items).toHaveLength(1);
      for (const answer of answers) if (!answer.inserted) expect(answer.holder).toEqual(items[0]);
    });

    it('keep one delivery per message after its unique_id was erased from the document', async () => {
      const [first, second] = [deliveryOf(), deliveryOf()];
      await one.ledger.insert([first, second]);
      const database = playground.client().db((await databaseOf(first.id)) ?? '');
      const deliveries = database.collection<{ _id: string }>('deliveries');
      for (const { id } of [first, second]) await deliveries.updateOne({ _id: id }, { $unset: { uniqueId: '' } });
      expect(await one.ledger.insert([{ ...first, detail: 'again' }])).toEqual([{ inserted: false, holder: first }]);
    });

    async function databaseOf(id: DeliveryId): Promise<string | undefined> {
      const client = playground.client();
      const { databases } = await client.db().admin().listDatabases({ nameOnly: true });
      for (const { name } of databases.filter((found) => found.name.startsWith('carillon-test-'))) {
        if (await client.db(name).collection<{ _id: string }>('deliveries').findOne({ _id: id })) return name;
      }
      return undefined;
    }
  });

  describe('writes whose responses from MongoDB are lost', () => {
    it('lose no insert or claim, and repeat none', async () => {
      const proxy = await playground.proxy();
      const database = playground.database();
      const stores = await Promise.all(
        [1, 2].map(() => playground.open({ url: proxyUrl(proxy), database, patience: 60_000 })),
      );
      const calm = await playground.open({ database });
      const slots = Array.from({ length: 40 }, () => deliveryOf());
      proxy.loseAnswers(0.25);
      // Two processes insert each slot: exactly one must be told that it did.
      const inserts = slots.flatMap((delivery) => stores.map(({ ledger }) => ledger.insert([delivery])));
      const inserted = (await Promise.all(inserts)).flat().filter((answer) => answer.inserted);
      expect(inserted).toHaveLength(slots.length);
      const claims = slots.flatMap((delivery) =>
        stores.map(async ({ ledger }, at) =>
          (await ledger.replace(claimOf(delivery, String(at)))) === 'done' ? at : null,
        ),
      );
      const winners = await Promise.all(claims);
      proxy.loseAnswers(0);
      for (const [place, { id }] of slots.entries()) {
        const won = winners.slice(2 * place, 2 * place + 2).filter((winner) => winner !== null);
        expect(won).toEqual([Number((await calm.ledger.get(id))?.token)]);
      }
      const batches = Array.from({ length: 16 }, () => [taskOf(), taskOf()]);
      proxy.loseAnswers(0.4);
      const taken = await Promise.all(
        batches.map((batch) => Promise.all(stores.map((store) => store.tasks.insert(batch)))),
      );
      proxy.loseAnswers(0);
      for (const answers of taken) {
        for (const place of [0, 1]) expect(answers.filter((answer) => answer[place])).toHaveLength(1);
      }
      expect(proxy.lost()).toBeGreaterThan(20);
    });
  });
});
