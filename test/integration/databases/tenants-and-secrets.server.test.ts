import { createAddressGuard } from '@carillon/adapter-guarded-http';
import { createPostgresSources } from '@carillon/adapter-postgres';
import type { CheckBody } from '@carillon/contracts';
import { storedSourceOf } from '@carillon/testing';
import { integration, stream, workspaceOf, type Wish } from '@carillon/testing/given';
import { createMemoryStores } from '@carillon/testing/memory';
import { createPostgresDatabase, type PostgresDatabase } from '@carillon/testing/services';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import type { Permission } from '../../../apps/control/src/access/permission.ts';
import {
  accessOf,
  auditEntries,
  openControl,
  personWith,
  publishWishes,
  type Fixture,
} from '../../../apps/control/test/control-fixture.ts';
import { describeWith } from '../../support/requirements.ts';
import { sharedServer } from '../../support/shared-servers.ts';

const WORKSPACES = ['shop', 'acme'] as const;
type Workspace = (typeof WORKSPACES)[number];
const CANARY = 'canary-9Xk2pT4w';
const EVERYTHING: readonly Permission[] = ['read', 'bodies', 'configure', 'operate', 'audit'];

describeWith('postgres', 'databases of two workspaces', () => {
  const databases = {} as Record<Workspace, PostgresDatabase>;
  const urls = {} as Record<Workspace, string>;
  let fixture: Fixture;
  beforeAll(async () => {
    const { url } = await sharedServer('postgres');
    for (const workspace of WORKSPACES) {
      const database = await createPostgresDatabase(url);
      await database.run(`CREATE TABLE ${workspace}_rows (id int PRIMARY KEY, ${workspace}_column text)`);
      await database.run(`INSERT INTO ${workspace}_rows VALUES (1, '${workspace}-value')`);
      databases[workspace] = database;
      urls[workspace] = (await database.createRole('REPLICATION')).url;
    }
  });
  afterAll(async () => {
    for (const workspace of WORKSPACES) await databases[workspace].drop();
  });
  afterEach(() => fixture.control.app.close());

  /** The control role with both databases, asked by a member of `shop`. `url`: the secret of `shop`. */
  async function open(url = urls.shop): Promise<void> {
    const { sources, drafts } = createMemoryStores().connect();
    for (const workspace of WORKSPACES) await sources.advance(storedSourceOf({ workspace, integration: 'db' }), []);
    const secrets = {
      resolve: async (workspace: string) => (workspace === 'shop' ? url : urls.acme),
      locate: async () => null,
    };
    const guard = createAddressGuard({ allowed: ['127.0.0.1/32'] });
    fixture = await openControl(accessOf(personWith('ann', EVERYTHING, 'shop')), {
      sources,
      drafts,
      secrets: secrets as never,
      changeSources: async () => createPostgresSources({ guard }),
    });
    await publishWishes(
      fixture,
      WORKSPACES.flatMap((workspace): Wish[] => [
        workspaceOf({}, workspace),
        integration('db', { kind: 'postgres', url: { secret: 'DB' } }, workspace),
        stream(
          'rows',
          { from: { integration: 'db', tables: { [`public.${workspace}_rows`]: 'event.id' } } },
          workspace,
        ),
      ]),
    );
  }
  async function ask(method: 'GET' | 'POST', path: string, payload?: object) {
    const url = `/v1/workspaces/${path}`;
    const { statusCode: status, body } = await fixture.control.app.inject({ method, url, ...(payload && { payload }) });
    return { status, body };
  }
  const everyAnswer = (workspace: string) =>
    Promise.all([
      ask('GET', `${workspace}/sources`),
      ask('GET', `${workspace}/sources/db`),
      ask('GET', `${workspace}/integrations/db/tables`),
      ask('POST', `${workspace}/integrations/db/check`, {}),
      ask('POST', `${workspace}/sources/db/reset`, { reason: 'mine', from: null }),
    ]);

  it('show a member of one workspace no table, column, state or row of the other', async () => {
    await open();
    const own = await everyAnswer('shop');
    expect(own.map(({ status }) => status)).toEqual([200, 200, 200, 200, 409]);
    expect(own[2]?.body).toContain('shop_column');
    expect(own[3]?.body).toContain('table public.shop_rows');
    const others = await everyAnswer('acme');
    expect(others.map(({ status }) => status)).toEqual([403, 403, 403, 403, 403]);
    for (const { body } of [...own, ...others, ...(await everyAnswer('-'))]) {
      expect(body).not.toMatch(/acme[_-]|shop-value/);
    }
  });

  it.each([
    ['a wrong password', (url: URL) => (url.password = CANARY)],
    ['no such database', (url: URL) => ((url.pathname = '/nothing'), (url.password = CANARY))],
    ['a server that does not answer', (url: URL) => ((url.port = '1'), (url.password = CANARY))],
    ['an address that is not allowed', (url: URL) => ((url.hostname = '10.0.0.1'), (url.password = CANARY))],
    ['an unknown sslmode', (url: URL) => ((url.search = `?sslmode=${CANARY}`), (url.password = CANARY))],
    ['no address at all', () => CANARY],
  ])('keep address and password to themselves, with %s', async (_case, spoil) => {
    const url = new URL(urls.shop);
    const secret = spoil(url) === CANARY && url.password !== CANARY ? CANARY : url.href;
    await open(secret);
    const answers = await everyAnswer('shop');
    const steps = (JSON.parse(answers[3]?.body ?? '') as CheckBody).steps;
    expect(steps.some(({ ok }) => !ok)).toBe(true);
    const told = JSON.stringify([answers, await auditEntries(fixture)]);
    expect(told).toContain('source.reset');
    for (const part of [CANARY, secret, `${url.host}/`]) expect(told).not.toContain(part);
  });
});
