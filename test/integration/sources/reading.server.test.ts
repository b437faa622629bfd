import { join } from 'node:path';
import { restoreBackup } from '@carillon/adapter-embedded';
import { postgresPosition } from '@carillon/domain/changes';
import { OWNER_ACTOR } from '@carillon/domain/people';
import { COLLECTIONS } from '@carillon/stores';
import { integration, MORNING, stream } from '@carillon/testing/given';
import { untilFound } from '@carillon/testing/topology';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { describeWith } from '../../support/requirements.ts';
import { sharedServer } from '../../support/shared-servers.ts';
import { ReadingShop, REF } from './reading-shop.ts';

describeWith('postgres', 'An embedded engine that reads PostgreSQL', () => {
  let shop: ReadingShop;
  beforeEach(async () => {
    shop = await ReadingShop.create((await sharedServer('postgres')).url);
    await shop.open();
    await shop.publish();
    await shop.untilState('running');
  }, 60_000);
  afterEach(() => shop.drop());

  async function reset(gone = false): Promise<void> {
    const source = await shop.stored();
    const request = { by: OWNER_ACTOR, reason: 'looked', at: 1, from: source?.position ?? null, gone };
    expect(await shop.topology.data.sources.requestReset(REF, source?.version ?? 0, request)).toBe('done');
  }
  const restart = async (): Promise<void> => {
    await shop.close();
    await shop.open();
  };

  it('puts each change on the log with the row before', async () => {
    await shop.database.run("INSERT INTO orders VALUES (1, 'open')");
    await shop.database.run("UPDATE orders SET status = 'paid'");
    await shop.database.run('DELETE FROM orders');
    const paid = { id: 1, status: 'paid' };
    expect(await shop.untilChanges(3)).toEqual([
      ['create', { id: 1, status: 'open' }, null],
      ['update', paid, { id: 1, status: 'open' }],
      ['delete', paid, paid],
    ]);
  });

  it('continues after a restart with the changes in between', async () => {
    await shop.database.run("INSERT INTO orders VALUES (1, 'open')");
    await shop.untilChanges(1);
    await shop.close();
    await shop.database.run("UPDATE orders SET status = 'paid'");
    await shop.open();
    expect((await shop.untilChanges(2)).map(([op]) => op)).toEqual(['create', 'update']);
  });

  it('repeats nothing if it ends between the commit and the acknowledgement', async () => {
    await shop.close();
    let failures = 0;
    await shop.open({
      store: (store) => ({
        ...store,
        async advance(next, records) {
          const answer = await store.advance(next, records);
          if (records.length === 0 || failures === 2) return answer;
          throw new Error(`killed ${(failures += 1)}`);
        },
      }),
    });
    for (const id of [1, 2, 3]) {
      await shop.database.run('INSERT INTO orders VALUES ($1)', [id]);
      await untilFound('the failure', () => failures >= Math.min(id, 2) || undefined);
      await shop.untilChanges(id);
    }
    const changes = await shop.changes();
    expect(changes).toHaveLength(3);
    expect(new Set(changes.map(([, event]) => JSON.stringify(event))).size).toBe(3);
  });

  it('stays stopped after a restart and a publish, until a person resets it', async () => {
    const position = postgresPosition(
      (await shop.untilStored('a position', (source) => source.position !== null)).position,
    );
    await shop.close();
    await shop.database.run('SELECT pg_drop_replication_slot($1)', [position?.slot]);
    await shop.open();
    const stopped = await shop.untilState('stopped', 'slot_gone');
    await restart();
    await shop.publish();
    await shop.database.run("INSERT INTO orders VALUES (1, 'unread')");
    expect(await shop.stored()).toEqual(stopped);
    expect(await shop.slots()).toBe(0);

    await reset();
    const running = await shop.untilState('running');
    await shop.untilStored('a new slot', (source) => source.reset === null);
    expect(running.position?.at).toBeGreaterThan(stopped.position?.at ?? 0);
    await shop.database.run("INSERT INTO orders VALUES (2, 'read')");
    expect(await shop.untilChanges(1)).toEqual([['create', { id: 2, status: 'read' }, null]]);
  });

  it('stops a restored backup, because the slot is ahead of its log', async () => {
    const backup = join(shop.folder, 'copy.backup');
    await shop.backup(backup);
    await shop.database.run("INSERT INTO orders VALUES (1, 'open')");
    await shop.untilChanges(1);
    const position = postgresPosition(
      (await shop.untilStored('the row', (source) => source.lastChangeAt !== null)).position,
    );
    // The slot moves on with the acknowledgement.
    await untilFound('the acknowledgement', async () => {
      const [row] = await shop.database.run(
        'SELECT confirmed_flush_lsn >= $1::pg_lsn AS is_acknowledged FROM pg_replication_slots WHERE slot_name = $2',
        [position?.lsn, position?.slot],
      );
      return row?.['is_acknowledged'] === true ? true : undefined;
    });
    await shop.close();
    const restored = join(shop.folder, 'restored');
    const moment = { now: MORNING, derive: (...parts: readonly string[]) => parts.join('/') };
    await restoreBackup(backup, restored, { moment, collections: COLLECTIONS, readers: [] });
    shop.use(restored);
    await shop.open();
    await shop.untilState('stopped', 'slot_ahead');
    expect(await shop.changes()).toEqual([]);

    await reset();
    await shop.untilState('running');
    await shop.database.run("UPDATE orders SET status = 'paid'");
    expect((await shop.untilChanges(1)).map(([op]) => op)).toEqual(['update']);
  });

  it('drops the slot of a removed source', async () => {
    await shop.topology.publish(stream('orders', null), integration('shop-db', null));
    await untilFound('the end', async () => ((await shop.stored()) === null ? true : undefined));
    expect(await shop.slots()).toBe(0);
    expect(await shop.database.run('SELECT 1 FROM pg_publication')).toEqual([]);
  });
});
