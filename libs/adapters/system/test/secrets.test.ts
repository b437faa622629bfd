import type { SealedSecret } from '@carillon/ports';
import { describe, expect, it } from 'vitest';
import { createSecrets, type SecretRules } from '../src/index.ts';

describe('secrets', () => {
  const stored = new Map<string, SealedSecret>();
  for (const name of ['SMTP', 'CARILLON_MASTER_KEY']) {
    const rest = { version: 1, dataKey: 'dk_1', fingerprint: '', updatedAt: 1 };
    const updatedBy = { kind: 'cli', id: 'owner' } as const;
    stored.set(`shop/${name}`, { workspace: 'shop', name, sealed: 'v2.a.b.c', updatedBy, ...rest });
  }
  const store = { secret: async (workspace: string, name: string) => stored.get(`${workspace}/${name}`) ?? null };
  const secrets = (env: Record<string, string | undefined>, listed: readonly string[] = [], own: string[] = []) => {
    const rules: SecretRules = { listed, own: () => new Set(own) };
    return createSecrets(store, { open: async () => 'stored' }, env, rules);
  };
  const resolve = (env: Record<string, string | undefined>, name: string, workspace = 'shop') =>
    secrets(env).resolve(workspace, name);

  it('come from the variable of the workspace, else from the store, else they are missing', async () => {
    expect(await resolve({ CARILLON_SECRET_SHOP__SMTP: 'given' }, 'SMTP')).toBe('given');
    expect(await resolve({}, 'SMTP')).toBe('stored');
    expect(await resolve({ CARILLON_SECRET_SHOP__SMTP: '' }, 'SMTP')).toBe('stored');
    expect(await resolve({ CARILLON_SECRET_SHOP__SMTP: 'given' }, 'SMTP', 'other')).toBeNull();
    expect(await resolve({ CARILLON_SECRET_MY_SHOP__SMTP: 'given' }, 'SMTP', 'my-shop')).toBe('given');
    expect(await resolve({}, 'UNKNOWN')).toBeNull();
  });

  it('of a workspace never come from other variables of the operator, unless these are listed for the workspace', async () => {
    const env = { MONGO_WORD: 'm', AWS_SECRET_ACCESS_KEY: 'a', SMTP: 'given', CRM_KEY: 'c' };
    for (const name of ['MONGO_WORD', 'AWS_SECRET_ACCESS_KEY', 'CRM_KEY']) expect(await resolve(env, name)).toBeNull();
    expect(await resolve(env, 'SMTP')).toBe('stored');
    const some = secrets(env, ['SMTP', 'shop/CRM_KEY']);
    expect(await some.resolve('shop', 'SMTP')).toBe('given');
    expect(await some.resolve('other', 'SMTP')).toBe('given');
    expect(await some.resolve('shop', 'CRM_KEY')).toBe('c');
    expect(await some.resolve('other', 'CRM_KEY')).toBeNull();
  });

  it('of a workspace never come from a variable that the deployment’s own file names, listed or not', async () => {
    const env = { MONGO_WORD: 'm', CARILLON_SECRET_SHOP__MONGO_WORD: 'of the shop' };
    const all = secrets(env, ['MONGO_WORD', 'other/MONGO_WORD'], ['MONGO_WORD']);
    expect(await all.resolve('other', 'MONGO_WORD')).toBeNull();
    expect(await all.resolve('shop', 'MONGO_WORD')).toBe('of the shop');
    expect(await all.resolve('', 'MONGO_WORD')).toBe('m');
  });

  it('of two workspaces never share a variable, whatever the names of workspaces and secrets', async () => {
    expect(await resolve({ CARILLON_SECRET_A__B__KEY: 'x' }, 'B__KEY', 'a')).toBe('x');
    expect(await resolve({ CARILLON_SECRET_A__B__KEY: 'x' }, 'KEY', 'a--b')).toBeNull();
  });

  it('report their source, and hidden if a variable exists that is not used any more', async () => {
    const some = secrets({ OLD: 'x', CARILLON_SECRET_SHOP__NEW: 'y', LISTED: 'z', SMTP: 's' }, ['LISTED']);
    const places = ['OLD', 'NEW', 'LISTED', 'SMTP', 'UNKNOWN', 'CARILLON_MASTER_KEY'].map((name) =>
      some.locate('shop', name),
    );
    expect(await Promise.all(places)).toEqual(['hidden', 'environment', 'environment', 'stored', 'nowhere', 'stored']);
    expect(await some.locate('', 'OLD')).toBe('environment');
  });

  it('never include the deployment’s own variables, nor members of Object.prototype', async () => {
    expect(await resolve({ CARILLON_MASTER_KEY: 'the key' }, 'CARILLON_MASTER_KEY')).toBe('stored');
    expect(await resolve({ CARILLON_TOKEN: 'token' }, 'CARILLON_TOKEN')).toBeNull();
    expect(await resolve({}, 'constructor')).toBeNull();
  });
});
