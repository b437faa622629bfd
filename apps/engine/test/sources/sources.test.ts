import { OWNER_ACTOR } from '@carillon/domain/people';
import { CarillonError, err } from '@carillon/kernel';
import type { SourceStore } from '@carillon/ports';
import { Progress } from '@carillon/runtime';
import { stream } from '@carillon/testing/given';
import { untilFound } from '@carillon/testing/topology';
import { positionAt } from './scripted-sources.ts';
import { describe, expect, it } from 'vitest';
import {
  openForEachTest,
  TIMING,
  REPORT,
  topology,
  database,
  facts,
  counts,
  troubles,
  start,
  publish,
  reader,
  stored,
  untilStored,
  inState,
  change,
  events,
  read,
  requestReset,
} from './reading-fixture.ts';

openForEachTest();

describe('The readers of sources', () => {
  it('do nothing in an engine without sources', async () => {
    let lists = 0;
    const { sources } = topology.data;
    const counted: SourceStore = { ...sources, list: (of) => ((lists += 1), sources.list(of)) };
    await topology.publish(stream('orders', { security: { api_keys: ['main'] } }));
    start({ sources: counted });
    await untilFound('the first look', () => lists > 0 || undefined);
    await new Promise((resolve) => setTimeout(resolve, 10 * TIMING.roundMs));
    expect([lists, database.loads, facts.size]).toEqual([1, 0, 0]);
  });

  it('append changes, and store position, state and lag', async () => {
    await publish();
    start();
    const first = await reader();
    expect([first.target.url, first.tables, first.from]).toEqual(['postgres://shop', ['public.orders'], null]);
    await read(first);
    await first.handlers.take({ changes: [change(1), change(2), change(null)], position: positionAt('0/200', 5) });
    expect(await stored()).toMatchObject({
      position: { lsn: '0/200' },
      state: { kind: 'running' },
      secrets: { url: 'SHOP_DB', ca: null },
      lagBytes: 7,
    });
    expect(new Set((await events()).map(({ headers }) => headers['key']))).toEqual(new Set(['1', '2', undefined]));
    expect(counts).toEqual(['appended 2', 'without_key 1']);
    await untilFound('the facts', () => (facts.get('shop/shop-db')?.readUntil === 5 ? true : undefined));
  });

  it('append a large batch only after the events of the last one are evaluated', async () => {
    await publish();
    const progress = new Progress();
    for (const partition of [0, 1]) progress.reached(partition, 0);
    start({ progress });
    const first = await reader();
    await read(first);
    const changes = Array.from({ length: 100 }, (_, id) => change(id));
    await first.handlers.take({ changes, position: positionAt('0/200') });
    const second = first.handlers.take({ changes: [change(100)], position: positionAt('0/300') });
    await new Promise((resolve) => setTimeout(resolve, 10 * TIMING.roundMs));
    expect(await events()).toHaveLength(100);
    for (const partition of [0, 1]) progress.reached(partition, 1000);
    await second;
    expect(await events()).toHaveLength(101);
  });

  it('continue at the stored position after a restart', async () => {
    await publish();
    const engine = start();
    await read(await reader());
    await engine.stop();
    expect((await reader()).isClosed()).toBe(true);
    start();
    const second = await reader(2);
    expect(second.from?.lsn).toBe('0/100');
    // A table that was published before is read since then.
    const published = REPORT.tables.map((table) => ({ ...table, since: null }));
    second.handlers.report({ ...REPORT, tables: published });
    await second.handlers.take({ changes: [], position: positionAt('0/150') });
    expect((await stored())?.tables).toEqual(REPORT.tables);
  });

  it('open a reader again when tables change', async () => {
    await publish();
    start();
    await read(await reader());
    await publish({ 'public.orders': 'event.id', 'public.payments': 'event.order_id' });
    expect((await reader(2)).tables).toEqual(['public.orders', 'public.payments']);
    expect((await reader()).isClosed()).toBe(true);
    await expect((await reader()).handlers.take({ changes: [], position: positionAt('0/1') })).rejects.toThrow();
  });

  it('retry a source that waits, until it runs', async () => {
    await publish();
    start();
    (await reader()).end({ kind: 'waiting', reason: 'refused_login', detail: null, fix: null });
    const waiting = await inState('waiting');
    expect(waiting).toMatchObject({ state: { reason: 'refused_login' }, position: null });
    await read(await reader(2));
    expect((await inState('running')).since).toBeGreaterThanOrEqual(waiting.since);
  });

  it('name a secret that is not set', async () => {
    await publish();
    start({ secrets: { resolve: async () => null } });
    expect((await inState('waiting')).state).toMatchObject({
      reason: 'refused_login',
      detail: 'The secret SHOP_DB is not set.',
    });
  });

  it('leave a stopped source stopped after a restart and a publish, until a person resets it', async () => {
    await publish();
    const engine = start();
    await read(await reader());
    (await reader()).end({ kind: 'stopped', reason: 'slot_gone', detail: null, fix: null });
    await inState('stopped');
    await engine.stop();
    start();
    await publish({ 'public.orders': 'event.id', 'public.payments': 'event.order_id' });
    await untilFound('the facts', () => (facts.get('shop/shop-db')?.state.kind === 'stopped' ? true : undefined));
    await new Promise((resolve) => setTimeout(resolve, 10 * TIMING.roundMs));
    expect(database.readers).toHaveLength(1);

    database.reset = err({ reason: 'unreachable', detail: 'no connection', fix: null });
    await requestReset();
    const waits = await untilStored('the failed reset', ({ state }) => 'detail' in state && state.detail !== null);
    expect(waits.state).toMatchObject({ kind: 'stopped', detail: 'The reset waits: no connection' });
    database.reset = { ok: true, value: positionAt('0/900', 9000) };
    expect((await reader(2)).from?.lsn).toBe('0/900');
    expect(await stored()).toMatchObject({ reset: null, state: { kind: 'running' } });
    expect(counts).toEqual([expect.stringMatching(/^reset: not read from .* to /) as string]);
    const [record] = await topology.records('carillon.audit');
    const audited = topology.ports.codecs.audit.decode(record?.value ?? new Uint8Array());
    expect(audited.ok && audited.value).toMatchObject({
      what: 'source.reset',
      workspace: 'shop',
      target: 'shop-db',
      actor: OWNER_ACTOR,
      detail: expect.stringMatching(/^not read from 0\/100 \(1970.*\) to 0\/900 \(1970.*\) of .*; looked$/) as string,
    });
  });

  it('name the slot on the old server, and read tables since the reset', async () => {
    await publish();
    start();
    await read(await reader());
    (await reader()).end({ kind: 'stopped', reason: 'other_database', detail: null, fix: null });
    await inState('stopped');
    database.reset = { ok: true, value: { ...positionAt('0/900', 9000), systemId: '8' } };
    await requestReset();
    expect((await reader(2)).from?.systemId).toBe('8');
    expect((await stored())?.tables).toEqual([{ table: 'public.orders', since: 9000, problem: null }]);
    const [record] = await topology.records('carillon.audit');
    expect(new TextDecoder().decode(record?.value)).toContain(
      "system id 7301234567890123456 keeps WAL until somebody runs there: SELECT pg_drop_replication_slot('carillon_1')",
    );
  });

  it('wait while the log is full, and append the changes afterwards', async () => {
    await publish();
    let isFull = true;
    const { sources } = topology.data;
    const advance: SourceStore['advance'] = async (next, records) => {
      if (isFull && records.length > 0) throw new CarillonError('log_unavailable', 'the disk is full');
      return sources.advance(next, records);
    };
    start({ sources: { ...sources, advance }, aloneOnStore: true });
    const first = await reader();
    await read(first);
    const failure = await first.handlers.take({ changes: [change(1)], position: positionAt('0/200') }).catch(String);
    first.end({ kind: 'closed', error: new CarillonError('log_unavailable', 'the disk is full') });
    expect(failure).toContain('the disk is full');
    expect((await inState('waiting')).state).toMatchObject({ reason: 'log_full', detail: 'the disk is full' });
    isFull = false;
    const second = await reader(2);
    expect(second.from?.lsn).toBe('0/100');
    await second.handlers.take({ changes: [change(1)], position: positionAt('0/200') });
    expect(await events()).toHaveLength(1);
  });

  it.each([
    [new TypeError('a bug'), null],
    [new CarillonError('store_unavailable', 'db-7.internal is away'), 'Its database does not answer.'],
    [new CarillonError('log_unavailable', 'kafka-7.internal is away'), 'Its log takes no records now.'],
  ])('say that Carillon itself failed, not the database: %s', async (error, detail) => {
    await publish();
    start();
    const first = await reader();
    await read(first);
    first.end({ kind: 'closed', error });
    expect((await inState('waiting')).state).toEqual({ kind: 'waiting', reason: 'carillon_failed', detail, fix: null });
    expect(troubles).toContain(error);
  });

  it('show that Carillon itself failed while its store rejects', async () => {
    await publish();
    let isAway = false;
    const { sources } = topology.data;
    const rejects: SourceStore['advance'] = async (next, records) => {
      if (isAway) throw new CarillonError('store_unavailable', 'away');
      return sources.advance(next, records);
    };
    start({ sources: { ...sources, advance: rejects } });
    const first = await reader();
    await read(first);
    await untilFound('running', () => facts.get('shop/shop-db')?.state.kind === 'running' || undefined);
    isAway = true;
    const taken = first.handlers.take({ changes: [change(1)], position: positionAt('0/200') });
    await expect(taken).rejects.toThrow('away');
    first.end({ kind: 'closed', error: await taken.catch((error: unknown) => error) });
    const shown = () => facts.get('shop/shop-db')?.state;
    await untilFound('the failure', () => shown()?.kind === 'waiting' || undefined);
    expect(shown()).toMatchObject({ reason: 'carillon_failed', detail: 'Its database does not answer.' });
  });

  it('put changes that cannot be processed among the dead letters, and read on behind them', async () => {
    await publish();
    start();
    const first = await reader();
    await read(first);
    const { identity, change: readable } = change(2);
    const unreadable = { source: readable.source, identity, error: new Error('row text 4711') };
    const fails = (): never => {
      throw new Error('value 4711');
    };
    const event = Object.defineProperty({ id: 3 }, 'note', { enumerable: true, get: fails });
    const odd = { ...change(3), change: { ...change(3).change, event } };
    const changes = [change(1), unreadable, odd, change(4)];
    await first.handlers.take({ changes, position: positionAt('0/200') });
    expect((await events()).map(({ headers }) => headers['key'])).toEqual(expect.arrayContaining(['1', '4']));
    expect(await events()).toHaveLength(2);
    const letters = (await topology.records('carillon.dead-letters')).map(({ value }) =>
      topology.ports.codecs.deadLetter.decode(value),
    );
    expect(letters.map((letter) => letter.ok && [letter.value.reason, letter.value.detail])).toEqual(
      expect.arrayContaining([
        ['change_unreadable', expect.stringContaining('The change 0/1:2 of public.orders') as string],
        ['change_unreadable', expect.stringContaining('The change 0/1:3 of public.orders') as string],
      ]),
    );
    expect(JSON.stringify(letters)).not.toContain('4711');
    expect([await stored(), counts]).toMatchObject([{ position: { lsn: '0/200' } }, ['appended 2', 'dead_letter 2']]);
    expect(troubles).toHaveLength(1);
  });

  it('let one of two engines read', async () => {
    await publish();
    const engine = start();
    await read(await reader());
    start();
    await new Promise((resolve) => setTimeout(resolve, 10 * TIMING.roundMs));
    expect(database.readers).toHaveLength(1);
    await engine.stop();
    const second = await reader(2);
    expect(second.from?.lsn).toBe('0/100');
    // A table that was published before is read since then.
    const published = REPORT.tables.map((table) => ({ ...table, since: null }));
    second.handlers.report({ ...REPORT, tables: published });
    await second.handlers.take({ changes: [], position: positionAt('0/150') });
    expect((await stored())?.tables).toEqual(REPORT.tables);
  });

  it('refuse the changes of a reader that another engine has overtaken', async () => {
    await publish();
    start();
    const first = await reader();
    await read(first);
    const source = await stored();
    if (source) await topology.data.sources.advance({ ...source, version: source.version + 1 }, []);
    const late = first.handlers.take({ changes: [change(1)], position: positionAt('0/200') });
    await expect(late).rejects.toThrow('another process');
  });
});
