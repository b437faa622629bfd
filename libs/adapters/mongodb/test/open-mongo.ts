import { randomBytes } from 'node:crypto';
import type { Clock } from '@carillon/ports';
import type { UnderTest } from '@carillon/testing';
import { MongoClient } from 'mongodb';
import { afterAll } from 'vitest';
import { openMongo, type MongoOptions, type MongoStores } from '../src/index.ts';

export const wallClock: Clock = { now: () => Date.now() };
const url = (): string => process.env['MONGODB_URL'] ?? '';

/** A database of one test file, gone when the file is done. */
export const freshDatabase = (): string => `carillon-test-${randomBytes(6).toString('hex')}`;

/**
 * The ports of one database for a whole file of contract suites: suites use names of their own, so that sharing proves as
 * much and costs one start.
 */
export function sharedMongo(): <Port>(port: (stores: MongoStores) => Port) => () => Promise<UnderTest<Port>> {
  const database = freshDatabase();
  let opened: Promise<MongoStores> | null = null;
  const open = (): Promise<MongoStores> => {
    opened ??= openMongo({ url: url(), database, clock: wallClock });
    return opened;
  };
  afterAll(async () => {
    await (await opened)?.close();
    const client = new MongoClient(url());
    await client.db(database).dropDatabase();
    await client.close();
  });
  return (port) => async () => ({ port: port(await open()), close: async () => undefined });
}
export type { MongoOptions };
