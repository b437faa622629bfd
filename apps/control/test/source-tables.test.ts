import type { CheckBody, DatabaseTablesBody, StreamFieldPage } from '@carillon/contracts';
import { err, ok } from '@carillon/kernel';
import type { ChangeSources, SourceCheck, SourceTable, SourceTarget, TableCheck } from '@carillon/ports';
import { integration, stream, workspaceOf } from '@carillon/testing/given';
import { createDirectWire, createMemoryReadModels, createMemoryStores } from '@carillon/testing/memory';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { deploymentOwner } from '../src/access/principal.ts';
import { accessOf, auditEntries, openControl, personWith, publishWishes, type Fixture } from './control-fixture.ts';

const PASSWORD = 'canary-7Qm4k2Zp';
const URL_OF = `postgres://carillon:${PASSWORD}@db.example.com/shop`;
const DATABASE = { kind: 'postgres', url: { secret: 'SHOP_DB' }, tls: { ca: { secret: 'SHOP_CA' } } } as const;
const ORDERS: SourceTable = {
  table: 'public.orders',
  columns: [{ name: 'id', type: 'bigint', key: true }],
  identity: 'full',
  problem: null,
};
const NO_IDENTITY = {
  reason: 'no_identity',
  detail: null,
  fix: 'ALTER TABLE public.log REPLICA IDENTITY FULL;',
} as const;
const LOG: SourceTable = { table: 'public.log', columns: [], identity: 'nothing', problem: NO_IDENTITY };

let fixture: Fixture;
let targets: SourceTarget[] = [];
let secrets: Readonly<Record<string, string>> = {};
let check: Omit<SourceCheck, 'tables'>;
let checkedTables: readonly TableCheck[];
let asked: readonly string[] = [];
let tables: Awaited<ReturnType<ChangeSources['tables']>>;

async function open(who = deploymentOwner('session')): Promise<void> {
  const changeSources = {
    check: async (target: SourceTarget, names: readonly string[]) => {
      targets.push(target);
      asked = names;
      return { ...check, tables: check.problems.length > 0 ? [] : checkedTables };
    },
    tables: async (target: SourceTarget) => (targets.push(target), tables),
  };
  const places = {
    resolve: async (_workspace: string, name: string) => secrets[name] ?? null,
    locate: async () => null,
  };
  const { sources, drafts } = createMemoryStores().connect();
  fixture = await openControl(accessOf(who), {
    sources,
    drafts,
    readModels: createMemoryReadModels().connect(createDirectWire()),
    changeSources: async () => changeSources,
    secrets: places as never,
  });
  await publishWishes(fixture, [
    workspaceOf({}, 'shop'),
    workspaceOf({}, 'acme'),
    integration('shop-db', DATABASE, 'shop'),
    stream('orders', {
      from: { integration: 'shop-db', tables: { 'public.orders': 'event.id', 'public.log': 'event.id' } },
    }),
  ]);
}
beforeEach(async () => {
  targets = [];
  secrets = { SHOP_DB: URL_OF, SHOP_CA: 'PEM' };
  check = { server: 'PostgreSQL 15.18', problems: [], warnings: [] };
  checkedTables = [ORDERS, LOG];
  tables = ok([LOG, ORDERS]);
  await open();
});
afterEach(() => fixture.control.app.close());

type Answered<Body> = { readonly status: number; readonly body: Body & { readonly code?: string } };

async function ask<Body>(method: 'GET' | 'POST', path: string, payload?: object): Promise<Answered<Body>> {
  const url = `/v1/workspaces/${path}`;
  const answer = await fixture.control.app.inject({ method, url, ...(payload && { payload }) });
  expect(answer.body).not.toContain(PASSWORD);
  return { status: answer.statusCode, body: answer.json<Answered<Body>['body']>() };
}
const checked = async () =>
  (await ask<CheckBody>('POST', 'shop/integrations/shop-db/check', {})).body.steps.map((step) => ({ ...step }));
const listed = (query = '', workspace = 'shop') =>
  ask<DatabaseTablesBody>('GET', `${workspace}/integrations/shop-db/tables${query}`);

describe('the check of a database', () => {
  it('connects with the secrets of the workspace, and names server, warnings and the tables of streams', async () => {
    const warning = {
      detail: 'An unread slot fills the disk.',
      fix: "ALTER SYSTEM SET max_slot_wal_keep_size = '20GB';",
    };
    check = { ...check, warnings: [warning] };
    expect(await checked()).toEqual([
      { step: 'integration', ok: true, detail: 'kind postgres' },
      { step: 'server', ok: true, detail: 'PostgreSQL 15.18' },
      { step: 'warning', ok: true, ...warning },
      { step: 'table public.orders', ok: true, detail: 'can be read, with the row before' },
      {
        step: 'table public.log',
        ok: false,
        detail: expect.stringContaining('primary key') as string,
        fix: NO_IDENTITY.fix,
      },
    ]);
    expect(asked).toEqual(['public.orders', 'public.log']);
    expect(new Set(targets.map((target) => JSON.stringify(target))).size).toBe(1);
    expect(targets[0]).toEqual({ workspace: 'shop', integration: 'shop-db', url: URL_OF, ca: 'PEM' });
  });

  it('warns about columns that a stream names but the table lacks', async () => {
    const columns = ['id', 'card_number'].map((name) => ({ name, type: 'text', key: name === 'id' }));
    tables = ok([{ ...ORDERS, columns }]);
    const from = {
      integration: 'shop-db',
      tables: { 'public.orders': 'event.order.id' },
      without: ['public.orders.card_numbr', 'public.orders.card_number'],
    };
    await publishWishes(fixture, [stream('paid', { from, time: 'event.updated_at' })]);
    const warnings = (await checked()).flatMap(({ step, ok: isOk, detail }) =>
      step === 'warning' && isOk ? [detail] : [],
    );
    expect(warnings).toEqual([
      'public.orders has no column card_numbr, so without leaves nothing out (stream paid). Did you mean card_number?',
      'public.orders has no column order, so its changes have no key (stream paid).',
      'public.orders has no column updated_at, so its changes have the time of their commit (stream paid).',
    ]);
    tables = err({ reason: 'unreachable', detail: null, fix: null });
    expect((await checked()).filter(({ step }) => step === 'warning')).toEqual([]);
  });

  it('says what keeps the database from being read, with the SQL', async () => {
    const fix = 'ALTER ROLE carillon REPLICATION;';
    check = { ...check, problems: [{ reason: 'may_not_replicate', detail: null, fix }] };
    expect((await checked()).at(-1)).toEqual({
      step: 'may_not_replicate',
      ok: false,
      detail: 'The role may not replicate. Let an administrator of the database run this SQL.',
      fix,
    });
  });

  it('names the secret that is not set, and does not connect', async () => {
    secrets = { SHOP_CA: 'PEM' };
    expect((await checked()).at(-1)).toMatchObject({ step: 'secret', ok: false });
    expect(targets).toEqual([]);
  });

  it('reports missing tables and views with the same text as the reader', async () => {
    checkedTables = [
      { table: 'public.orders', identity: 'nothing', problem: { reason: 'is_view', detail: null, fix: null } },
      { table: 'public.log', identity: 'nothing', problem: { reason: 'no_table', detail: null, fix: null } },
    ];
    expect((await checked()).slice(-2)).toMatchObject([
      {
        step: 'table public.orders',
        ok: false,
        detail: 'The view public.orders has no changes of its own. Name the tables behind it.',
      },
      {
        step: 'table public.log',
        ok: false,
        detail: 'No table is called public.log. Create it, or remove it from the stream.',
      },
    ]);
  });
});

describe('the tables of a database', () => {
  it('are listed with columns, replica identity, and why one cannot be read', async () => {
    expect((await listed()).body).toEqual({
      items: [
        {
          table: 'public.log',
          columns: [],
          identity: 'nothing',
          problem: {
            reason: 'no_identity',
            sentence: expect.stringContaining('primary key') as string,
            fix: NO_IDENTITY.fix,
          },
        },
        { table: 'public.orders', columns: [...ORDERS.columns], identity: 'full', problem: null },
      ],
      next: null,
      problem: null,
    });
  });

  it('say why they cannot be listed', async () => {
    tables = err({ reason: 'refused_login', detail: null, fix: null });
    expect((await listed()).body).toMatchObject({ items: [], problem: { reason: 'refused_login' } });
    secrets = {};
    expect((await listed()).body.code).toBe('secret_missing');
  });

  it('are read one page at a time', async () => {
    const first = (await listed('?limit=1')).body;
    expect(first.items.map(({ table }) => table)).toEqual(['public.log']);
    const second = (await listed(`?limit=1&cursor=${encodeURIComponent(first.next ?? '')}`)).body;
    expect([second.items[0]?.table, second.next]).toEqual(['public.orders', null]);
  });

  it('are shown to those who configure the workspace only', async () => {
    await fixture.control.app.close();
    await open(personWith('ann', ['read', 'configure'], 'acme'));
    expect((await listed('', 'acme')).status).toBe(404);
    expect((await listed()).status).toBe(403);
    await fixture.control.app.close();
    await open(personWith('bob', ['read', 'operate'], 'shop'));
    expect((await listed()).status).toBe(403);
    expect(targets).toEqual([]);
  });
});

describe('the fields of a stream that reads a database', () => {
  it('come with its tables, their keys and the columns that no event has', async () => {
    const leavesOut = {
      integration: 'shop-db',
      tables: { 'public.orders': 'event.id' },
      without: ['public.orders.card'],
    };
    await publishWishes(fixture, [stream('paid', { from: leavesOut })]);
    const { source } = (await ask<StreamFieldPage>('GET', 'shop/streams/paid/fields')).body;
    const orders = { table: 'public.orders', key: 'event.id', without: ['card'] };
    expect(source).toEqual({ integration: 'shop-db', tables: [orders] });
  });
});

describe('the address of a database', () => {
  it('appears neither in the audit nor in the displayed configuration', async () => {
    await checked();
    await listed();
    const shown = await ask<object>('GET', 'shop/integrations/shop-db');
    expect(JSON.stringify([shown.body, await auditEntries(fixture)])).not.toContain('db.example.com');
  });
});
