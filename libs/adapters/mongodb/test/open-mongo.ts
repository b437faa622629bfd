import { randomBytes } from 'node:crypto';
import type { Clock } from '@carillon/ports';
import { SAMPLE_COLLECTIONS, type UnderTest } from '@carillon/testing';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll } from 'vitest';
import { sharedServer } from '../../../../test/support/shared-servers.ts';
import { openMongo, type MongoOptions, type MongoStores } from '../src/index.ts';
import { startCuttingProxy, type CuttingProxy } from './cutting-proxy.ts';

export const wallClock: Clock = { now: () => Date.now() };

/** The server of this run, and databases on it for one test file, which are gone when the file is done. */
export type Playground = {
  readonly url: () => string;
  readonly database: () => string;
  readonly open: (options?: Partial<MongoOptions>) => Promise<MongoStores>;
  /** The driver itself, to look at what is there and to do what others might. */
  readonly client: () => MongoClient;
  readonly proxy: () => Promise<CuttingProxy>;
};

export function usePlayground(): Playground {
  const databases: string[] = [];
  const closing: { close(): Promise<void> }[] = [];
  let server: { readonly url: string } | undefined;
  let client: MongoClient | undefined;
  const ofTest = <Thing>(thing: Thing | undefined): Thing => {
    if (!thing) throw new Error('only within a test');
    return thing;
  };
  const database = (): string => {
    const name = `carillon-test-${randomBytes(6).toString('hex')}`;
    databases.push(name);
    return name;
  };
  beforeAll(async () => {
    server = await sharedServer('mongodb');
    client = new MongoClient(server.url);
  }, 300_000);
  afterAll(async () => {
    await Promise.all(closing.map((one) => one.close()));
    for (const name of databases) await client?.db(name).dropDatabase();
    await client?.close();
  });
  return {
    url: () => ofTest(server).url,
    database,
    client: () => ofTest(client),
    async open(options = {}) {
      const stores = await openMongo({
        url: ofTest(server).url,
        database: database(),
        clock: wallClock,
        // Long enough for a busy machine; what has to fail soon says so itself.
        patience: 20_000,
        silence: 30_000,
        ...options,
      });
      closing.push(stores);
      return stores;
    },
    async proxy() {
      const { hostname, port } = new URL(ofTest(server).url);
      const proxy = await startCuttingProxy({ host: hostname, port: Number(port || 27_017) });
      closing.push(proxy);
      return proxy;
    },
  };
}

export const proxyUrl = (proxy: CuttingProxy): string => `mongodb://127.0.0.1:${proxy.port}/?directConnection=true`;

/**
 * The ports of one database for a whole file of contract suites: suites use names of their own, so that sharing proves as
 * much and costs one start. Breaking writes means that the server is away.
 */
export function sharedMongo(): <Port>(port: (stores: MongoStores) => Port) => () => Promise<UnderTest<Port>> {
  const playground = usePlayground();
  let opened: Promise<{ readonly stores: MongoStores; readonly proxy: CuttingProxy }> | null = null;
  const open = async (): Promise<{ readonly stores: MongoStores; readonly proxy: CuttingProxy }> => {
    const proxy = await playground.proxy();
    return {
      proxy,
      stores: await playground.open({ url: proxyUrl(proxy), patience: 3000, collections: SAMPLE_COLLECTIONS }),
    };
  };
  return (port) => async () => {
    opened ??= open();
    const { stores, proxy } = await opened;
    return {
      port: port(stores),
      faults: { breakWrites: proxy.goAway, mendWrites: proxy.comeBack, loseAnswers: proxy.loseAnswers },
      close: async () => undefined,
    };
  };
}
