import type { Delivery } from '@carillon/domain/deliveries';
import { deliveryOf, freshName, outcomeOf } from '@carillon/testing';
import { COLLECTIONS, createStores } from '@carillon/stores';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../../../../test/support/requirements.ts';
import { createAttempts } from '../src/attempts.ts';
import { collectionsOf } from '../src/collections.ts';
import { durableDatabase } from '../src/connection.ts';
import { createDeliveryLedger } from '../src/stores/delivery-ledger.ts';
import { createDocuments } from '../src/stores/documents.ts';
import { createSuppressionList } from '../src/stores/suppression-list.ts';
import { usePlayground } from './open-mongo.ts';

/** Of an event of some 700 bytes, as benches have them. */
const variables = { text: 'x'.repeat(700) };
const MESSAGES = 240;
/** As many as an account has connections, and so many intents come in one batch. */
const BATCH_SIZE = 10;
const BATCH = 20;

describeWith('mongodb', 'sending messages over the stores in MongoDB', () => {
  const playground = usePlayground();
  const { attempt } = createAttempts(20_000);
  let client: MongoClient;
  let sent: { readonly name: string; readonly bytes: number }[] = [];
  beforeAll(async () => {
    client = new MongoClient(playground.url(), { monitorCommands: true });
    client.on('commandStarted', ({ commandName: name, command }) => {
      sent.push({ name, bytes: JSON.stringify(command).length });
    });
    await client.connect();
  });
  afterAll(() => client.close());

  it('takes less than two commands and 7 KB per message for ten at a time, queries included', async () => {
    const name = playground.database();
    await playground.open({ database: name, collections: COLLECTIONS });
    const db = durableDatabase(client, name);
    const collections = collectionsOf(db);
    const ledger = createDeliveryLedger(collections, attempt);
    const list = createSuppressionList(collections, attempt);
    const { consents } = createStores(createDocuments(db, attempt));
    const workspace = freshName('costs');
    const moveOn = async (next: Delivery): Promise<Delivery> => {
      expect(await ledger.replace(next, { together: true })).toBe('done');
      return next;
    };
    async function send(first: Delivery): Promise<void> {
      const to = first.intent.to ?? '';
      await Promise.all([list.find(workspace, 'email', to), consents.find(workspace, [to])]);
      const sending = await moveOn({
        ...first,
        version: 2,
        state: 'SENDING',
        token: 't',
        nextAt: null,
        leaseUntil: 130,
      });
      const ended = { state: 'SENT', leaseUntil: null, unpublished: [outcomeOf(first)] } as const;
      const told = await moveOn({ ...sending, version: 3, ...ended });
      await moveOn({ ...told, version: 4, unpublished: [] });
    }
    sent = [];
    const waiting: Delivery[] = [];
    for (let at = 0; at < MESSAGES; at += BATCH) {
      const batch = Array.from({ length: BATCH }, (_, n) =>
        deliveryOf({ slot: { workspace }, intent: { variables, to: `p${at + n}@example.com` } }),
      );
      await ledger.insert(batch);
      waiting.push(...batch);
    }
    await Promise.all(
      Array.from({ length: BATCH_SIZE }, async () => {
        for (let next = waiting.shift(); next; next = waiting.shift()) await send(next);
      }),
    );
    const kilobytes = sent.reduce((sum, { bytes }) => sum + bytes, 0) / 1024 / MESSAGES;
    expect(sent.length / MESSAGES).toBeLessThan(2);
    expect(kilobytes).toBeLessThan(7);
  });
});
