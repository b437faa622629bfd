import { EMPTY_CONFIGURATION } from '@carillon/domain/configuration';
import { err } from '@carillon/kernel';
import { integration, stream } from '@carillon/testing/given';
import { untilFound } from '@carillon/testing/topology';
import { positionAt } from './scripted-sources.ts';
import { describe, expect, it } from 'vitest';
import {
  openForEachTest,
  TIMING,
  topology,
  database,
  start,
  publish,
  remove,
  reader,
  stored,
  untilStored,
  inState,
  read,
  requestReset,
} from './reading-fixture.ts';

openForEachTest();

describe('The readers of sources that lose streams or integration', () => {
  it('leave a stopped source stopped when its last stream is removed and added again', async () => {
    await publish();
    start();
    await read(await reader());
    (await reader()).end({ kind: 'stopped', reason: 'slot_gone', detail: null, fix: null });
    const stopped = await inState('stopped');
    await topology.publish(stream('orders', null));
    await new Promise((resolve) => setTimeout(resolve, 10 * TIMING.roundMs));
    await publish();
    await new Promise((resolve) => setTimeout(resolve, 10 * TIMING.roundMs));
    expect(await stored()).toEqual(stopped);
    expect([database.readers.length, database.dropped]).toEqual([1, []]);
  });

  it('read no tables of a source without streams, and its slot still advances', async () => {
    await publish();
    const engine = start();
    await read(await reader());
    await topology.publish(stream('orders', null));
    const second = await reader(2);
    expect([second.tables, second.from?.lsn, database.dropped]).toEqual([[], '0/100', []]);
    second.handlers.report({ tables: [], lagBytes: 0 });
    await second.handlers.take({ changes: [], position: positionAt('0/200') });
    await engine.stop();
    start();
    const third = await reader(3);
    expect([third.tables, third.from?.lsn]).toEqual([[], '0/200']);
    await publish();
    expect((await reader(4)).tables).toEqual(['public.orders']);
  });

  it('look at the newest configuration before they drop a slot', async () => {
    await publish();
    const first = start();
    await read(await reader());
    await first.stop();
    const { configuration } = topology.ports;
    let current = EMPTY_CONFIGURATION;
    const lagging = {
      current: () => current,
      refresh: async () => (current = await configuration.refresh()),
    };
    start({ configuration: lagging });
    expect((await reader(2)).from?.lsn).toBe('0/100');
    expect(database.dropped).toEqual([]);
  });

  it('make nothing in a database that no stream reads', async () => {
    await topology.publish(integration('shop-db', { kind: 'postgres', url: { secret: 'SHOP_DB' } }));
    start();
    await new Promise((resolve) => setTimeout(resolve, 10 * TIMING.roundMs));
    expect([database.loads, await stored()]).toEqual([0, null]);
  });

  it('keep the stopped state of a source whose integration is removed, and audit the unread changes when it ends', async () => {
    await publish();
    start();
    await read(await reader());
    (await reader()).end({ kind: 'stopped', reason: 'slot_gone', detail: null, fix: null });
    await inState('stopped');
    database.drop = err({ reason: 'unreachable', detail: 'no connection', fix: null });
    await remove();
    expect(await inState('leaving')).toMatchObject({ state: { stopped: 'slot_gone' }, position: { lsn: '0/100' } });
    await publish();
    expect((await inState('stopped')).state).toMatchObject({ reason: 'slot_gone' });
    expect(database.readers).toHaveLength(1);

    database.drop = { ok: true, value: null };
    await remove();
    await untilFound('the end', async () => ((await stored()) === null ? true : undefined));
    const records = await topology.records('carillon.audit');
    const audited = records.map(({ value }) => topology.ports.codecs.audit.decode(value));
    expect(audited).toMatchObject([
      {
        value: {
          what: 'source.reset',
          target: 'shop-db',
          actor: { kind: 'system' },
          detail: expect.stringMatching(
            /^not read after 0\/100 \(1970.*\) of carillon_1; the integration was removed or has another kind now$/,
          ) as string,
        },
      },
    ]);
  });

  it('drop the slot of a source that was removed', async () => {
    await publish();
    start();
    await read(await reader());
    await remove();
    await untilFound('the end', async () => ((await stored()) === null ? true : undefined));
    expect(database.dropped).toEqual(['postgres://shop carillon_1']);
    expect((await reader()).isClosed()).toBe(true);
  });

  it('list a removed source as leaving while its database is unreachable, until a person confirms that it is gone', async () => {
    await publish();
    start();
    await read(await reader());
    database.drop = err({ reason: 'unreachable', detail: 'no connection', fix: null });
    await remove();
    expect((await inState('leaving')).state).toEqual({
      kind: 'leaving',
      detail: 'no connection',
      fix: "SELECT pg_drop_replication_slot('carillon_1')",
    });
    await requestReset(true);
    await untilFound('the end', async () => ((await stored()) === null ? true : undefined));
    expect(database.dropped).toEqual([]);
  });

  it('drop that confirmation when the source is published again, so that a later stop is kept', async () => {
    await publish();
    const engine = start();
    await read(await reader());
    database.drop = err({ reason: 'unreachable', detail: 'no connection', fix: null });
    await remove();
    await inState('leaving');
    await engine.stop();
    await requestReset(true);
    await publish();
    start();
    await read(await reader(2));
    expect(await stored()).toMatchObject({ state: { kind: 'running' }, reset: null });
    (await reader(2)).end({ kind: 'stopped', reason: 'slot_lost', detail: null, fix: null });
    await inState('stopped');
    await new Promise((resolve) => setTimeout(resolve, 10 * TIMING.roundMs));
    expect([await inState('stopped'), database.readers.length]).toMatchObject([{ reset: null }, 2]);
  });

  it('drop a pending reset when the source is removed, so that a person can confirm that it is gone', async () => {
    await publish();
    start();
    await read(await reader());
    (await reader()).end({ kind: 'stopped', reason: 'slot_gone', detail: null, fix: null });
    await inState('stopped');
    const away = err({ reason: 'unreachable' as const, detail: 'no connection', fix: null });
    database.reset = away;
    database.drop = away;
    await requestReset();
    await untilStored('the failed reset', ({ state }) => 'detail' in state && state.detail !== null);
    await remove();
    expect(await inState('leaving')).toMatchObject({ reset: null });
  });
});
