import { createIds, createSealing, createSecrets, loadKeys } from '@carillon/adapter-system';
import { CHANGED_BY_OWNER } from '@carillon/domain/configuration';
import { publishConfiguration } from '@carillon/stages';
import { account, changesOf, givenIds, integration, settableClock } from '@carillon/testing/given';
import { createMemoryStores } from '@carillon/testing/memory';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { deploymentOwner, type Principal } from '../../apps/control/src/access/principal.ts';
import { accessOf, openControl, personWith, type Fixture } from '../../apps/control/test/control-fixture.ts';

const CANARY = 'canary-value-Xq72';
const OLD = 'a1'.repeat(32);
const NEW = 'b2'.repeat(32);

let folder = '';
let fixtures: Fixture[] = [];
let memory: ReturnType<typeof createMemoryStores>;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carillon-secrets-'));
  memory = createMemoryStores();
});
afterEach(async () => {
  await Promise.all(fixtures.map(({ control }) => control.app.close()));
  fixtures = [];
  rmSync(folder, { recursive: true, force: true });
});

const owner = deploymentOwner('session');

/** The API over the real sealing, with the workspaces shop and club. */
async function openFor(who: Principal = owner, env: Readonly<Record<string, string>> = {}) {
  const keys = loadKeys(folder, { CARILLON_MASTER_KEY: OLD });
  const store = memory.connect().secretStore;
  const parts = { store, masterKeys: keys.masterKeys, ids: createIds(keys.ledgerKey), clock: settableClock() };
  const sealing = createSealing({ ...parts, ledgerKey: keys.ledgerKey, alone: (work) => work() });
  const secrets = createSecrets(store, sealing.values, env, { listed: [], own: () => new Set() });
  const fixture = await openControl(accessOf(who), { ...sealing, secrets });
  fixtures.push(fixture);
  const { configuration, codecs } = fixture;
  const wishes = [
    { ref: { kind: 'workspace', workspace: 'shop', name: '' }, body: {} } as const,
    { ref: { kind: 'workspace', workspace: 'club', name: '' }, body: {} } as const,
    integration(
      'crm',
      { kind: 'lookup', url: 'https://crm.example.com', authorization: { key: { secret: 'CRM_KEY' } } },
      'shop',
    ),
    account(
      'mail',
      {
        kind: 'smtp',
        host: 'mail.example.com',
        port: 25,
        from: 'a@example.com',
        user: 'u',
        password: { secret: 'SMTP' },
      },
      'club',
    ),
  ];
  await publishConfiguration(
    {
      log: fixture.log,
      codec: codecs.configuration,
      view: configuration,
      ids: givenIds,
      clock: fixture.clock,
      readEverywhere: async () => undefined,
    },
    changesOf(await configuration.refresh(), wishes),
    CHANGED_BY_OWNER,
  );
  const texts: string[] = [];
  const ask = async (method: 'GET' | 'PUT' | 'DELETE' | 'POST', url: string, payload?: object) => {
    const answer = await fixture.control.app.inject({ method, url, ...(payload && { payload }) });
    texts.push(answer.body, JSON.stringify(answer.headers));
    return { status: answer.statusCode, body: answer.json<Answered>() };
  };
  return { ask, secrets, texts };
}
type Answered = {
  readonly items: readonly Readonly<Record<string, unknown>>[];
  readonly code: string;
  readonly detail: string;
  readonly master_keys: readonly unknown[];
  readonly renewed: number;
};

describe('A secret', () => {
  it('is set, listed with what uses it, set anew and removed, and its value is in no answer', async () => {
    const { ask, secrets, texts } = await openFor();
    const set = await ask('PUT', '/v1/workspaces/shop/secrets/CRM_KEY', { value: CANARY });
    expect(set).toMatchObject({
      status: 200,
      body: {
        workspace: 'shop',
        name: 'CRM_KEY',
        version: 1,
        updated_by: { kind: 'cli', id: 'owner' },
        overridden: false,
        readable: true,
        used_by: [{ kind: 'integration', name: 'crm' }],
      },
    });
    expect(await secrets.resolve('shop', 'CRM_KEY')).toBe(CANARY);
    await ask('PUT', '/v1/workspaces/shop/secrets/CRM_KEY', { value: `${CANARY}-2` });
    await ask('PUT', '/v1/workspaces/club/secrets/OTHER', { value: CANARY });
    await ask('PUT', '/v1/secrets/SMTP', { value: CANARY });
    const shop = await ask('GET', '/v1/workspaces/shop/secrets');
    expect(shop.body.items).toMatchObject([{ name: 'CRM_KEY', version: 2 }]);
    const all = await ask('GET', '/v1/workspaces/-/secrets');
    expect(all.body.items.map(({ workspace, name, used_by }) => [workspace, name, used_by])).toEqual([
      ['club', 'OTHER', []],
      ['shop', 'CRM_KEY', [{ kind: 'integration', name: 'crm' }]],
    ]);
    // The account of the club names SMTP of the club, which is another one than the deployment's.
    expect((await ask('GET', '/v1/secrets')).body.items).toMatchObject([{ workspace: '', name: 'SMTP', used_by: [] }]);
    expect(await secrets.resolve('club', 'SMTP')).toBeNull();
    expect((await ask('DELETE', '/v1/workspaces/shop/secrets/CRM_KEY')).status).toBe(200);
    expect(await ask('DELETE', '/v1/workspaces/shop/secrets/CRM_KEY')).toMatchObject({ status: 404 });
    expect(await ask('DELETE', '/v1/secrets/OTHER')).toMatchObject({ status: 404 });
    expect(texts.join('\n')).not.toContain('canary');
  });

  it('is refused with the field and what is expected, and without the value', async () => {
    const { ask, texts } = await openFor();
    for (const [url, body, detail] of [
      ['/v1/workspaces/shop/secrets/crm-key', { value: CANARY }, 'a name of A-Z, 0-9 and _'],
      ['/v1/secrets/1A', { value: CANARY }, 'a name of A-Z, 0-9 and _'],
      ['/v1/secrets/A', { value: '' }, 'value'],
      ['/v1/secrets/A', { value: CANARY, name: CANARY }, 'name'],
      ['/v1/secrets/A', { value: [CANARY] }, 'value'],
      ['/v1/secrets/A', { value: CANARY.repeat(2_000) }, 'value'],
    ] as const) {
      const { status, body: problem } = await ask('PUT', url, body);
      expect({ url, status }).toEqual({ url, status: 400 });
      expect(problem.detail).toContain(detail);
    }
    expect(texts.join('\n')).not.toContain('canary');
  });

  it('of a workspace is set by people who configure that workspace, and listed by people who read it', async () => {
    const editor = await openFor(personWith('ann', ['read', 'configure'], 'shop'));
    expect((await editor.ask('PUT', '/v1/workspaces/shop/secrets/A', { value: 'x' })).body).toMatchObject({
      updated_by: { kind: 'person', id: 'ann' },
    });
    expect(await editor.ask('PUT', '/v1/workspaces/club/secrets/A', { value: 'x' })).toMatchObject({ status: 403 });
    expect(await editor.ask('PUT', '/v1/secrets/A', { value: 'x' })).toMatchObject({ status: 403 });
    expect(await editor.ask('GET', '/v1/secrets')).toMatchObject({ status: 403 });
    expect(await editor.ask('GET', '/v1/master-key')).toMatchObject({ status: 403 });
    const reader = await openFor(personWith('ben', ['read'], 'shop'));
    expect((await reader.ask('GET', '/v1/workspaces/shop/secrets')).body.items).toHaveLength(1);
    expect((await reader.ask('GET', '/v1/workspaces/-/secrets')).body.items).toHaveLength(1);
    expect(await reader.ask('DELETE', '/v1/workspaces/shop/secrets/A')).toMatchObject({ status: 403 });
  });

  it('overridden by an environment variable is marked as such', async () => {
    const { ask, secrets } = await openFor(owner, { CARILLON_SECRET_SHOP__CRM_KEY: 'of the environment', SMTP: 'own' });
    expect((await ask('PUT', '/v1/workspaces/shop/secrets/CRM_KEY', { value: 'x' })).body).toMatchObject({
      overridden: true,
    });
    expect(await secrets.resolve('shop', 'CRM_KEY')).toBe('of the environment');
    expect((await ask('PUT', '/v1/workspaces/shop/secrets/SMTP', { value: 'x' })).body).toMatchObject({
      overridden: false,
    });
  });
});

describe('The master key', () => {
  it('cannot be rotated with a token of any scope; a token can read its state', async () => {
    const { ask, texts } = await openFor({ ...deploymentOwner('token'), actor: { kind: 'token', id: 'tok_1' } });
    for (const step of ['rotate', 'renew-values', 'finish', 'cancel']) {
      const refused = await ask('POST', `/v1/master-key/${step}`, step === 'rotate' ? { master_key: NEW } : undefined);
      expect(refused).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    }
    expect((await ask('GET', '/v1/master-key')).body.master_keys).toHaveLength(1);
    expect(texts.join('\n')).not.toContain(NEW);
  });

  it('is exchanged over the API; what is refused says why, and never repeats a key', async () => {
    const { ask, secrets, texts } = await openFor();
    await ask('PUT', '/v1/workspaces/shop/secrets/A', { value: CANARY });
    expect(await ask('POST', '/v1/master-key/rotate', {})).toMatchObject({
      status: 400,
      body: { code: 'invalid_request' },
    });
    for (const wrong of [`${NEW}00`, 'canary', NEW.slice(2)]) {
      const refused = await ask('POST', '/v1/master-key/rotate', { master_key: wrong });
      expect(refused).toMatchObject({ status: 400 });
      expect(refused.body.detail).toContain('openssl rand -hex 32');
    }
    const both = await ask('POST', '/v1/master-key/rotate', { master_key: NEW });
    expect(both.body).toMatchObject({ source: 'environment', data_keys: 2, values: 1 });
    expect(both.body.master_keys).toMatchObject([
      { held: true, starts: true, data_keys: 2, alone: 0 },
      { held: true, starts: false, data_keys: 2, alone: 0 },
    ]);
    expect((await ask('POST', '/v1/master-key/renew-values')).body).toMatchObject({ renewed: 1, values_behind: 0 });
    const early = await ask('POST', '/v1/master-key/finish', {});
    expect(early).toMatchObject({ status: 409, body: { code: 'conflict' } });
    expect(early.body.detail).toContain('restart every role');
    expect((await ask('POST', '/v1/master-key/cancel', {})).body.master_keys).toHaveLength(1);
    expect((await ask('GET', '/v1/master-key')).body.master_keys).toHaveLength(1);
    expect(await secrets.resolve('shop', 'A')).toBe(CANARY);
    for (const word of ['canary', NEW, NEW.slice(2, 40), OLD]) expect(texts.join('\n')).not.toContain(word);
  });
});
