import type { LogId } from '@carillon/kernel';
import { describe, expect, it } from 'vitest';
import { createClient, durableDatabase } from '../src/connection.ts';
import { openMongo } from '../src/index.ts';
import { describeWith } from '../../../../test/support/requirements.ts';
import { proxyUrl, usePlayground, wallClock } from './open-mongo.ts';

describeWith('mongodb', 'opening the stores in MongoDB', () => {
  const playground = usePlayground();
  const { open, database } = playground;
  const db = (name: string) => playground.client().db(name);
  const opening = (name: string): Promise<unknown> => open({ database: name });

  describe('the database that openMongo sets up', () => {
    it('is set up once, however many processes start at the same time', async () => {
      const name = database();
      const all = await Promise.all(Array.from({ length: 5 }, () => open({ database: name })));
      for (const stores of all) expect((await stores.verify()).every(({ ok }) => ok)).toBe(true);
      const made = (await db(name).collection('deliveries').listIndexes().toArray()) as readonly { name: string }[];
      expect(made.find((index) => index.name === 'slot')).toMatchObject({
        key: { workspace: 1, notificationId: 1, channel: 1, uniqueId: 1 },
        unique: true,
        partialFilterExpression: { uniqueId: { $exists: true } },
      });
    });

    it('is verified, and gets a missing index', async () => {
      const name = database();
      const stores = await open({ database: name });
      await db(name).collection('deliveries').dropIndex('slot');
      await db(name).collection('key_uses').drop();
      const told = (await stores.verify()).find(({ ok }) => !ok);
      expect(told?.detail).toContain('deliveries lacks index slot');
      expect(told?.detail).toContain('key_uses is missing');
      await opening(name);
      expect((await stores.verify()).every(({ ok }) => ok)).toBe(true);
    });

    it('may have an equal index of another name, and extra indexes that only speed up reading', async () => {
      const name = database();
      await opening(name);
      const deliveries = db(name).collection('deliveries');
      await deliveries.dropIndex('event');
      await deliveries.createIndex({ eventId: 1, createdAt: 1, _id: 1 }, { name: 'made by hand' });
      await deliveries.createIndex({ updatedAt: 1 }, { name: 'for a report' });
      await deliveries.dropIndex('workspaceState');
      await deliveries.createIndex(
        { workspace: 1, state: 1, createdAt: 1, _id: 1, notification: 1, person: 1 },
        { name: 'also by hand' },
      );
      const stores = await open({ database: name });
      expect(await stores.ledger.countByState()).toEqual({});
    });

    it('is refused if an index differs, with collection, index, found and required value, and is not changed', async () => {
      const name = database();
      await opening(name);
      const deliveries = db(name).collection('deliveries');
      await deliveries.dropIndex('slot');
      await deliveries.createIndex({ workspace: 1, notificationId: 1, channel: 1, uniqueId: 1 }, { name: 'slot' });
      const before = await deliveries.listIndexes().toArray();
      await expect(opening(name)).rejects.toMatchObject({ code: 'store_differs' });
      await expect(opening(name)).rejects.toThrow(
        /deliveries, index slot: found \{"key":\{"workspace":1,.*\}\}, wanted \{.*"unique":true\}/,
      );
      expect(await deliveries.listIndexes().toArray()).toEqual(before);
    });

    it('is refused if the unique index covers other documents than required', async () => {
      const name = database();
      await opening(name);
      const deliveries = db(name).collection('deliveries');
      await deliveries.dropIndex('slot');
      await deliveries.createIndex(
        { workspace: 1, notificationId: 1, channel: 1, uniqueId: 1 },
        { name: 'slot', unique: true, partialFilterExpression: { state: 'SENT' } },
      );
      await expect(opening(name)).rejects.toThrow(/deliveries, index slot: found .*SENT.*wanted .*\$exists/);
    });

    it('is refused if an index would remove or refuse documents', async () => {
      const name = database();
      await opening(name);
      await db(name).collection('deliveries').createIndex({ at: 1 }, { name: 'tidy', expireAfterSeconds: 60 });
      await db(name).collection('tasks').createIndex({ workspace: 1 }, { name: 'odd', unique: true });
      await expect(opening(name)).rejects.toThrow(
        /deliveries, index tidy: .*none that may remove documents.*tasks, index odd/,
      );
    });

    it('is refused if documents already violate the unique index', async () => {
      const name = database();
      const slot = { workspace: 'shop', notificationId: 'ntf', channel: 'email', uniqueId: 'order-1' };
      await db(name)
        .collection<{ _id: string }>('deliveries')
        .insertMany([
          { _id: 'dlv_1', ...slot },
          { _id: 'dlv_2', ...slot },
        ]);
      await expect(open({ database: name, patience: 300 })).rejects.toThrow(
        /deliveries: the database does not make index slot/,
      );
    });
  });

  describe('the server that openMongo connects to', () => {
    it('returns the deployment’s identity that was stored first, whatever key comes later', async () => {
      const name = database();
      const [first, second] = [await open({ database: name }), await open({ database: name })];
      const stored = { logId: 'log_1' as LogId, keyFingerprint: 'first' };
      expect(await first.configurationStore.identity(stored)).toEqual(stored);
      const other = { logId: 'log_2' as LogId, keyFingerprint: 'second' };
      expect(await second.configurationStore.identity(other)).toEqual(stored);
    });

    it('is reported as unreachable within the timeout', async () => {
      const begun = performance.now();
      const away = openMongo({ url: 'mongodb://127.0.0.1:9/', database: 'x', clock: wallClock, patience: 500 });
      await expect(away).rejects.toMatchObject({
        code: 'store_unavailable',
        detail: expect.stringContaining('ECONNREFUSED') as string,
      });
      expect(performance.now() - begun).toBeLessThan(60_000);
    });

    it('is retried within the timeout, and used as soon as it comes up', async () => {
      const away = openMongo({ url: 'mongodb://127.0.0.1:9/', database: 'x', clock: wallClock });
      await expect(away).rejects.toMatchObject({ detail: expect.stringContaining('ECONNREFUSED') as string });
      const proxy = await playground.proxy();
      await proxy.goAway();
      const late = playground.open({ url: proxyUrl(proxy), patience: 60_000 });
      // Longer than one try to find a server (2 s): it is the second or third that finds it.
      setTimeout(() => void proxy.comeBack(), 3_000);
      await expect(late).resolves.toBeDefined();
    });

    it('is not named in the error about an unusable URL, which may contain a password', async () => {
      const bad = openMongo({ url: 'mongodb://me:secret-word@', database: 'x', clock: wallClock });
      await expect(bad).rejects.toMatchObject({ code: 'invalid_configuration' });
      await expect(bad).rejects.not.toThrow(/secret-word/);
    });

    it('waits for a journaled majority when writing, and reads from a majority', () => {
      const client = createClient({
        url: 'mongodb://127.0.0.1/?w=1&journal=false&readPreference=secondary',
        serverSelection: 1,
        silence: 1,
        poolSize: 1,
      });
      for (const one of [durableDatabase(client, 'x'), durableDatabase(client, 'x').collection('y')]) {
        expect(one.writeConcern).toMatchObject({ w: 'majority', j: true, wtimeoutMS: 5000 });
        expect(one.readConcern?.level).toBe('majority');
        expect(one.readPreference?.mode).toBe('primary');
      }
    });

    it('is not contacted again after close', async () => {
      const stores = await open();
      await stores.close();
      await stores.close();
      await expect(stores.leases.acquire('x', 'me', 0, 1)).rejects.toMatchObject({ code: 'store_unavailable' });
      expect((await stores.verify()).some(({ ok }) => !ok)).toBe(true);
    });

    it('is used again after an outage without a restart', async () => {
      const proxy = await playground.proxy();
      const stores = await open({ url: proxyUrl(proxy), patience: 3000 });
      await proxy.goAway();
      const begun = performance.now();
      await expect(stores.leases.acquire('x', 'me', 0, 1)).rejects.toMatchObject({
        code: 'store_unavailable',
        facts: { retryAfter: 1000 },
      });
      expect(performance.now() - begun).toBeLessThan(60_000);
      expect(await stores.verify()).toEqual([{ step: 'database', ok: false, detail: expect.any(String) as string }]);
      await proxy.comeBack();
      await expect.poll(() => stores.leases.acquire('x', 'me', 0, 1).catch(() => false)).toBe(true);
    });
  });
});
