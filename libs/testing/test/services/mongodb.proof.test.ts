import { existsSync } from 'node:fs';
import { MongoClient } from 'mongodb';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { describeWith } from '../../../../test/support/requirements.ts';
import { startFerretDb, startMongoDb, type FerretDbService } from '../../src/services/index.ts';
import { canStart } from '../../src/services/needs.ts';

const TIMEOUT = 300_000;

describeWith('mongodb', 'FerretDB for tests', () => {
  let server: FerretDbService;
  let client: MongoClient;
  beforeAll(async () => {
    server = await startFerretDb();
    client = new MongoClient(server.url, { serverSelectionTimeoutMS: 60_000 });
  }, TIMEOUT);
  afterAll(async () => {
    await client?.close();
    await server?.stop();
  }, TIMEOUT);

  test('enforces unique indexes and compare-and-set', async () => {
    const tasks = client.db('test').collection<{ _id: string; version: number }>('tasks');
    await tasks.createIndex({ version: 1 }, { unique: true });
    await tasks.insertOne({ _id: 'a', version: 1 }, { writeConcern: { w: 'majority', j: true } });
    await expect(tasks.insertOne({ _id: 'b', version: 1 })).rejects.toMatchObject({ code: 11_000 });
    const claims = await Promise.all(
      [2, 3, 4].map(() => tasks.updateOne({ _id: 'a', version: 1 }, { $inc: { version: 10 } })),
    );
    expect(claims.filter(({ modifiedCount }) => modifiedCount === 1)).toHaveLength(1);
  });

  test.each([
    ['all of it', (): Promise<void> => server.kill().then(() => server.restart())],
    ['PostgreSQL', (): Promise<void> => server.parts.postgres.kill().then(() => server.parts.postgres.restart())],
    ['FerretDB', (): Promise<void> => server.parts.ferretDb.kill().then(() => server.parts.ferretDb.restart())],
  ])(
    'keeps what it acknowledged over kill -9 of %s',
    async (what, killAndRestart) => {
      const kept = client.db('test').collection<{ _id: string }>('kept');
      await kept.insertOne({ _id: what });
      await killAndRestart();
      // A connection of before the kill may fail once more.
      await vi.waitFor(async () => expect(await kept.findOne({ _id: what })).toEqual({ _id: what }), {
        timeout: 60_000,
        interval: 50,
      });
    },
    TIMEOUT,
  );

  test(
    'leaves nothing behind when it is stopped',
    async () => {
      await server.stop();
      expect(Object.values(server.parts).map(({ running }) => running)).toEqual([false, false]);
      expect(existsSync(server.dataDir)).toBe(false);
    },
    TIMEOUT,
  );
});

describe('an external MongoDB', () => {
  afterEach(() => {
    vi.unstubAllEnvs();
  });

  test('is used and not changed', async () => {
    vi.stubEnv('MONGODB_URL', 'mongodb://elsewhere.test/');
    expect(canStart('mongodb')).toBe(true);
    const server = await startMongoDb();
    expect(server.url).toBe('mongodb://elsewhere.test/');
    await expect(server.kill()).rejects.toThrow('MONGODB_URL');
    await server.stop();
  });
});
