import type { SourceBody } from '@carillon/contracts';
import type { PostgresPosition, SourceState } from '@carillon/domain/changes';
import { formatInstant } from '@carillon/kernel';
import type { SourceStore, StoredSource } from '@carillon/ports';
import { workspaceOf } from '@carillon/testing/given';
import { createMemoryStores } from '@carillon/testing/memory';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { deploymentOwner } from '../src/access/principal.ts';
import { sourceChecks } from '../src/source-checks.ts';
import { accessOf, auditEntries, openControl, personWith, publishWishes, type Fixture } from './control-fixture.ts';

const READ_UNTIL = '2026-11-28T09:12:04.000Z';
const position: PostgresPosition = {
  kind: 'postgres',
  systemId: '7311',
  timeline: 1,
  slot: 'carillon_shop_db',
  publication: 'carillon_shop_db',
  publicationOid: 16_500,
  lsn: '0/1948580',
  partial: null,
  at: Date.parse(READ_UNTIL),
};
const STOPPED: SourceState = { kind: 'stopped', reason: 'slot_gone', detail: null, fix: null };
const RUNNING: SourceState = { kind: 'running' };
const LEAVING: SourceState = { kind: 'leaving', detail: null, fix: 'SELECT pg_drop_replication_slot(…);' };

let sources: SourceStore;
let fixture: Fixture;
async function open(who = deploymentOwner('session')): Promise<void> {
  sources = createMemoryStores().connect().sources;
  fixture = await openControl(accessOf(who), { sources });
  await publishWishes(fixture, [workspaceOf({}, 'shop'), workspaceOf({}, 'acme')]);
}
beforeEach(() => open());
afterEach(() => fixture.control.app.close());

const given = (state: SourceState, more: Partial<StoredSource> = {}): Promise<unknown> =>
  sources.advance(
    {
      workspace: 'shop',
      integration: 'shop-db',
      kind: 'postgres',
      version: 1,
      secrets: { url: 'SHOP_DB', ca: null },
      position,
      state,
      since: position.at + 5_000,
      tables: [],
      lastChangeAt: position.at,
      lagBytes: 0,
      reportedAt: position.at,
      reset: null,
      moved: false,
      ...more,
    },
    [],
  );

type Answered<Body> = {
  readonly status: number;
  readonly body: Body & { readonly code?: string; readonly detail?: string };
};

async function ask<Body = SourceBody>(method: 'GET' | 'POST', path: string, payload?: object): Promise<Answered<Body>> {
  const answer = await fixture.control.app.inject({
    method,
    url: `/v1/workspaces/${path}`,
    ...(payload && { payload }),
  });
  return { status: answer.statusCode, body: answer.json<Answered<Body>['body']>() };
}
const reset = (body: object) => ask('POST', 'shop/sources/shop-db/reset', body);
const load = () => sources.load({ workspace: 'shop', integration: 'shop-db' });

describe('a source', () => {
  it('is shown with its state in words, and how far it was read', async () => {
    await given(STOPPED);
    expect((await ask('GET', 'shop/sources/shop-db')).body).toMatchObject({
      workspace: 'shop',
      name: 'shop-db',
      state: 'stopped',
      reason: 'slot_gone',
      read_until: READ_UNTIL,
      continues_at: 'now',
      fix: 'npx carillon sources reset shop-db --workspace shop --reason TEXT',
    });
  });

  it('has no lag while it runs and everything was read', async () => {
    await given(RUNNING);
    expect((await ask('GET', 'shop/sources/shop-db')).body).toMatchObject({ lag_seconds: 0, span: null });
  });

  it('is shown to members of its workspace only', async () => {
    await open(personWith('ann', ['read', 'operate'], 'acme'));
    await given(STOPPED);
    await given(STOPPED, { workspace: 'acme', integration: 'books' });
    const listed = await ask<{ items: SourceBody[] }>('GET', '-/sources');
    expect(listed.body.items.map(({ name }) => name)).toEqual(['books']);
    const [there, missing] = [await ask('GET', '-/sources/shop-db'), await ask('GET', '-/sources/none')];
    expect([there.status, missing.status]).toEqual([404, 404]);
    expect(there.body.detail?.replaceAll('shop-db', 'none')).toBe(missing.body.detail);
    expect((await ask('GET', 'shop/sources')).status).toBe(403);
    expect((await ask('POST', '-/sources/shop-db/reset', { reason: 'x', from: READ_UNTIL })).status).toBe(404);
    expect((await load())?.reset).toBeNull();
  });
});

describe('a reset', () => {
  it('stores the request of the person, and the audit keeps reason and span', async () => {
    await given(STOPPED);
    const { status, body } = await reset({ reason: 'checked by hand', from: READ_UNTIL });
    expect(status).toBe(200);
    const at = fixture.clock.now();
    expect(body).toMatchObject({ state: 'stopped', span: null, reset_requested_at: formatInstant(at) });
    expect((await load())?.reset).toMatchObject({ reason: 'checked by hand', at, from: position, gone: false });
    const entries = (await auditEntries(fixture)).filter(({ what }) => what === 'source.reset');
    expect(entries.map(({ outcome, workspace, target }) => [outcome, workspace, target])).toEqual([
      ['begun', 'shop', 'shop-db'],
      ['done', 'shop', 'shop-db'],
    ]);
    expect(entries[1]?.detail).toBe(
      `not read from 0/1948580 (${READ_UNTIL}) of carillon_shop_db to a new slot (${formatInstant(at)} or later); checked by hand`,
    );
  });

  it('refuses another span than the one that was shown', async () => {
    await given(STOPPED);
    const { status, body } = await reset({ reason: 'x', from: '2026-11-28T09:00:00.000Z' });
    expect([status, body.code]).toEqual([409, 'conflict']);
    expect((await load())?.reset).toBeNull();
  });

  it('refuses a source that is read or retried, and a second request', async () => {
    await given(RUNNING);
    expect((await reset({ reason: 'x', from: READ_UNTIL })).body.code).toBe('wrong_state');
    await given({ kind: 'waiting', reason: 'standby', detail: null, fix: null }, { version: 2 });
    expect((await reset({ reason: 'x', from: READ_UNTIL })).body.code).toBe('wrong_state');
    await given(STOPPED, { version: 3 });
    expect((await reset({ reason: 'x', from: READ_UNTIL })).status).toBe(200);
    expect((await reset({ reason: 'y', from: READ_UNTIL })).body.code).toBe('wrong_state');
    expect((await load())?.reset?.reason).toBe('x');
  });

  it('ends a leaving source only if the person confirms that its slot is gone', async () => {
    await given(LEAVING);
    expect((await reset({ reason: 'x', from: READ_UNTIL })).body.code).toBe('wrong_state');
    expect((await reset({ reason: 'x', from: READ_UNTIL, gone: true })).status).toBe(200);
    expect((await load())?.reset?.gone).toBe(true);
  });

  it('refuses gone for a stopped source, because its slot is needed or made again', async () => {
    await given(STOPPED);
    expect((await reset({ reason: 'x', from: READ_UNTIL, gone: true })).body.code).toBe('wrong_state');
  });

  it('is repeated if the engine writes the status of the source in between', async () => {
    await given(STOPPED);
    const store = sources;
    let writes = 2;
    await fixture.control.app.close();
    const racing: SourceStore = {
      ...sources,
      async requestReset(ref, version, request) {
        if (writes-- > 0) await given(STOPPED, { version: version + 1, reportedAt: position.at + 1 });
        return store.requestReset(ref, version, request);
      },
    };
    fixture = await openControl(accessOf(deploymentOwner('session')), { sources: racing });
    await publishWishes(fixture, [workspaceOf({}, 'shop')]);
    expect((await reset({ reason: 'x', from: READ_UNTIL })).status).toBe(200);
    expect((await load())?.reset?.reason).toBe('x');
  });

  const kafka: Partial<StoredSource> = {
    kind: 'kafka',
    secrets: null,
    position: {
      kind: 'kafka',
      clusterId: 'bus',
      topics: { orders: { id: 'A', partitions: { 0: 12 } } },
      at: position.at,
    },
    lagBytes: null,
    lagRecords: 1204,
  };

  it('skips all unread records of a source whose schema is gone, and allows no other start', async () => {
    await given({ kind: 'waiting', reason: 'schema_unknown', detail: 'schema 7', fix: null }, kafka);
    const shown = (await ask('GET', 'shop/sources/shop-db')).body;
    expect(shown).toMatchObject({
      continues_at: null,
      span: null,
      span_at_end:
        'The topics have 1204 records that Carillon has not read. None of them will be read, only those that are written after the reset.',
    });
    for (const body of [{}, { at: 'oldest' }, { at: 'end', gone: true }]) {
      expect((await reset({ reason: 'x', from: READ_UNTIL, ...body })).body.code).toBe('wrong_state');
    }
    const done = await reset({ reason: 'gone for good', from: READ_UNTIL, at: 'end' });
    expect(done).toMatchObject({ status: 200, body: { state: 'waiting', span_at_end: null } });
    expect(done.body.sentence).toContain('A reset was requested at');
    expect((await reset({ reason: 'y', from: READ_UNTIL, at: 'end' })).body.code).toBe('wrong_state');
    expect((await load())?.reset).toMatchObject({ start: 'end', reason: 'gone for good' });
  });

  it('shows the unread records of each topic while it is read', async () => {
    const tables = [{ table: 'orders', since: 1, problem: null, lagRecords: 340 }];
    const lag = async () =>
      ((await ask('GET', 'shop/sources/shop-db')).body.tables as readonly { lag_records: number | null }[]).map(
        ({ lag_records: records }) => records,
      );
    await given(RUNNING, { ...kafka, tables });
    expect(await lag()).toEqual([340]);
    await given({ kind: 'stopped', reason: 'records_gone', detail: null, fix: null }, { ...kafka, tables, version: 2 });
    expect(await lag()).toEqual([null]);
  });

  it('shows no time of a source that was reset to its oldest records and has read none', async () => {
    await given(RUNNING, { ...kafka, ...(kafka.position && { position: { ...kafka.position, at: 0 } }) });
    expect((await ask('GET', 'shop/sources/shop-db')).body).toMatchObject({ read_until: null, lag_seconds: null });
  });

  it('of Kafka continues at the oldest record, or at the end', async () => {
    await given({ kind: 'stopped', reason: 'records_gone', detail: null, fix: null }, kafka);
    const shown = (await ask('GET', 'shop/sources/shop-db')).body;
    expect(shown).toMatchObject({ kind: 'kafka', lag_bytes: null, lag_records: 1204, continues_at: 'oldest' });
    expect([shown.span, shown.span_at_end]).toEqual([
      'The topics held 1204 records when the source stopped. All that they still hold will be read, the others never.',
      'The topics held 1204 records when the source stopped. None of them will be read, only those that are written after the reset.',
    ]);
    expect((await reset({ reason: 'x', from: READ_UNTIL, at: 'end' })).status).toBe(200);
    expect((await load())?.reset).toMatchObject({ start: 'end' });
    const [, done] = (await auditEntries(fixture)).filter(({ what }) => what === 'source.reset');
    expect(done?.detail).toContain('continues at the end of the topics, which held 1204 records; x');
  });

  it('of a database takes no record to continue at', async () => {
    await given(STOPPED);
    expect(await reset({ reason: 'x', from: READ_UNTIL, at: 'end' })).toMatchObject({
      status: 400,
      body: { code: 'invalid_request' },
    });
    expect((await load())?.reset).toBeNull();
  });

  it('needs a reason and the permission operate', async () => {
    await given(STOPPED);
    expect((await reset({ reason: ' ', from: READ_UNTIL })).status).toBe(400);
    const store = sources;
    await fixture.control.app.close();
    fixture = await openControl(accessOf(personWith('ann', ['read', 'configure'], 'shop')), { sources: store });
    await publishWishes(fixture, [workspaceOf({}, 'shop')]);
    expect((await reset({ reason: 'x', from: READ_UNTIL })).status).toBe(403);
    expect((await load())?.reset).toBeNull();
  });
});

describe('the doctor', () => {
  const checks = () => sourceChecks({ sources, clock: fixture.clock });

  it('lists sources and tables that are not read, with the fix', async () => {
    expect(await checks()).toEqual([]);
    await given(STOPPED);
    const problem = {
      reason: 'no_identity',
      detail: null,
      fix: 'ALTER TABLE public.log REPLICA IDENTITY FULL;',
    } as const;
    const tables = [{ table: 'public.log', since: null, problem }];
    await given(RUNNING, { integration: 'books', tables });
    expect(await checks()).toMatchObject([
      { step: 'source shop/books', ok: false, fix: problem.fix },
      { step: 'source shop/shop-db', ok: false, detail: expect.stringContaining('the slot was dropped') as string },
    ]);
  });
});
