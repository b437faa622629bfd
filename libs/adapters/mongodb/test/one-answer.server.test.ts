import { deliveryOf, freshName } from '@carillon/testing';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../../../../test/support/requirements.ts';
import { createAttempts } from '../src/attempts.ts';
import { collectionsOf } from '../src/collections.ts';
import { durableDatabase } from '../src/connection.ts';
import { createDeliveryLedger } from '../src/stores/delivery-ledger.ts';
import { createDueTasks } from '../src/stores/due-tasks.ts';
import { usePlayground } from './open-mongo.ts';
import { taskOf } from './task-of.ts';

/** More than the 101 that MongoDB gives in its first answer unless it is asked for more. */
const MANY = 250;

describeWith('mongodb', 'a query for due work in MongoDB', () => {
  const playground = usePlayground();
  const { attempt } = createAttempts(20_000);
  let client: MongoClient;
  let asked: string[] = [];
  beforeAll(async () => {
    client = new MongoClient(playground.url(), { monitorCommands: true });
    client.on('commandStarted', ({ commandName }) => asked.push(commandName));
    await client.connect();
  });
  afterAll(() => client.close());

  async function collections() {
    const name = playground.database();
    await playground.open({ database: name });
    return collectionsOf(durableDatabase(client, name));
  }

  it('returns due deliveries in one response, however many they are', async () => {
    const ledger = createDeliveryLedger(await collections(), attempt);
    const workspace = freshName('due');
    await ledger.insert(Array.from({ length: MANY }, () => deliveryOf({ slot: { workspace } })));
    asked = [];
    expect(await ledger.due(workspace, 100, MANY)).toHaveLength(MANY);
    expect(asked).toEqual(['find']);
  });

  it('returns due tasks in one response, however many they are', async () => {
    const tasks = createDueTasks(await collections(), attempt);
    await tasks.insert(Array.from({ length: MANY }, taskOf));
    const { queue, nextAt } = taskOf();
    asked = [];
    expect(await tasks.due(queue, nextAt, MANY)).toHaveLength(MANY);
    expect(asked).toEqual(['find']);
  });
});
