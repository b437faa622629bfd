import { deliveryOf } from '@carillon/testing';
import type { Delivery } from '@carillon/domain/deliveries';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../../../../test/support/requirements.ts';
import { createAttempts } from '../src/attempts.ts';
import { collectionsOf } from '../src/collections.ts';
import { durableDatabase } from '../src/connection.ts';
import { createDeliveryLedger } from '../src/stores/delivery-ledger.ts';
import { usePlayground } from './open-mongo.ts';

describeWith('mongodb', 'repeated inserts into the ledger in MongoDB', () => {
  const playground = usePlayground();
  let client: MongoClient;
  /** What the driver sent: the documents of each insert, and `ask` for each question. */
  let sent: (number | 'ask')[] = [];
  beforeAll(async () => {
    client = new MongoClient(playground.url(), { monitorCommands: true });
    client.on('commandStarted', ({ commandName, command }) => {
      if (commandName === 'insert') sent.push((command['documents'] as readonly unknown[]).length);
      if (commandName === 'find') sent.push('ask');
    });
    await client.connect();
  });
  afterAll(() => client.close());

  async function ledgerWith(deliveries: readonly Delivery[]) {
    const name = playground.database();
    await playground.open({ database: name });
    const ledger = createDeliveryLedger(collectionsOf(durableDatabase(client, name)), createAttempts(5_000).attempt);
    await ledger.insert(deliveries);
    return {
      async insert(more: readonly Delivery[]) {
        sent = [];
        const answers = await ledger.insert(more);
        return answers.map(({ inserted }) => inserted);
      },
    };
  }
  const many = (count: number): Delivery[] => Array.from({ length: count }, () => deliveryOf());

  it('are written without a read the first time, and read before a write the next time', async () => {
    const held = many(5);
    const ledger = await ledgerWith(held);
    expect(await ledger.insert(held)).toEqual(held.map(() => false));
    expect(sent).toEqual([5, 'ask']);
    expect(await ledger.insert([...held, ...many(2)])).toEqual([...held.map(() => false), true, true]);
    expect(sent).toEqual(['ask', 2]);
    expect(await ledger.insert(held)).toEqual(held.map(() => false));
    expect(sent).toEqual(['ask']);
  });

  it('are written without a read if the previous insert held only new deliveries', async () => {
    const ledger = await ledgerWith(many(3));
    const [twice, ...others] = many(4);
    // The holder of a duplicate within one call is known without a query.
    expect(await ledger.insert([...(twice ? [twice, twice] : []), ...others])).toEqual([true, false, true, true, true]);
    expect(sent).toEqual([4]);
    expect(await ledger.insert(many(3))).toEqual([true, true, true]);
    expect(sent).toEqual([3]);
  });
});
