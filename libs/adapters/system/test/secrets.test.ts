import { isCarillonError } from '@carillon/kernel';
import type { SealedSecret } from '@carillon/ports';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSealer, createSecrets, type SecretRules } from '../src/index.ts';

const sealer = createSealer(new Uint8Array(32).fill(5));
const codeOf = (run: () => unknown): string | undefined => {
  try {
    run();
    return undefined;
  } catch (error) {
    return isCarillonError(error) ? error.code : 'not ours';
  }
};

describe('the sealer', () => {
  it('opens what it sealed, and never seals the same way twice', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.string({ unit: 'grapheme' }), (workspace, name, value) => {
        const sealed = sealer.seal(workspace, name, value);
        expect(sealer.open(workspace, name, sealed)).toBe(value);
        expect(sealer.seal(workspace, name, value)).not.toBe(sealed);
      }),
    );
  });

  it('opens for no other workspace, name or key', () => {
    const sealed = sealer.seal('shop', 'SMTP', 'hunter2');
    expect(codeOf(() => sealer.open('shop2', 'SMTP', sealed))).toBe('wrong_key');
    expect(codeOf(() => sealer.open('shop', 'SMTP2', sealed))).toBe('wrong_key');
    expect(codeOf(() => createSealer(new Uint8Array(32)).open('shop', 'SMTP', sealed))).toBe('wrong_key');
    const ambiguous = sealer.seal('a|b', 'c', 'hunter2');
    expect(codeOf(() => sealer.open('a', 'b|c', ambiguous))).toBe('wrong_key');
  });

  it('refuses what was changed, and never says what is in it', () => {
    const sealed = sealer.seal('shop', 'SMTP', 'hunter2 and more');
    expect(sealed).not.toContain('hunter2');
    const parts = sealed.split('.');
    for (const [at, part] of parts.entries()) {
      const changed = parts.with(at, (part.startsWith('A') ? 'B' : 'A') + part.slice(1)).join('.');
      expect(codeOf(() => sealer.open('shop', 'SMTP', changed))).toBe('wrong_key');
    }
    const short = parts.with(2, (parts[2] ?? '').slice(0, 6)).join('.');
    for (const text of ['', 'v1', 'v1...', `${sealed}.x`, short]) {
      expect(codeOf(() => sealer.open('shop', 'SMTP', text))).toBe('wrong_key');
    }
  });

  it('gives fingerprints that tell values apart and are the same for the same value', () => {
    expect(sealer.fingerprint('shop', 'SMTP', 'a')).toMatch(/^[0-9A-Z]{4}$/);
    expect(sealer.fingerprint('shop', 'SMTP', 'a')).toBe(sealer.fingerprint('shop', 'SMTP', 'a'));
    expect(sealer.fingerprint('shop', 'SMTP', 'a')).not.toBe(sealer.fingerprint('shop', 'SMTP', 'b'));
  });
});

describe('secrets', () => {
  const stored = new Map<string, SealedSecret>();
  for (const name of ['SMTP', 'CARILLON_MASTER_KEY']) {
    const sealed = sealer.seal('shop', name, 'stored');
    stored.set(`shop/${name}`, { workspace: 'shop', name, sealed, fingerprint: '', updatedAt: 1 });
  }
  const store = { secret: async (workspace: string, name: string) => stored.get(`${workspace}/${name}`) ?? null };
  const secrets = (env: Record<string, string | undefined>, listed: readonly string[] = [], own: string[] = []) => {
    const rules: SecretRules = { listed, own: () => new Set(own) };
    return createSecrets(store, sealer, env, rules);
  };
  const resolve = (env: Record<string, string | undefined>, name: string, workspace = 'shop') =>
    secrets(env).resolve(workspace, name);

  it('come from the variable of the workspace first, then from the store, else they are not there', async () => {
    expect(await resolve({ CARILLON_SECRET_SHOP__SMTP: 'given' }, 'SMTP')).toBe('given');
    expect(await resolve({}, 'SMTP')).toBe('stored');
    expect(await resolve({ CARILLON_SECRET_SHOP__SMTP: '' }, 'SMTP')).toBe('stored');
    expect(await resolve({ CARILLON_SECRET_SHOP__SMTP: 'given' }, 'SMTP', 'other')).toBeNull();
    expect(await resolve({ CARILLON_SECRET_MY_SHOP__SMTP: 'given' }, 'SMTP', 'my-shop')).toBe('given');
    expect(await resolve({}, 'UNKNOWN')).toBeNull();
  });

  it("of a workspace are never another variable of the operator's, unless it is listed for the workspace", async () => {
    const env = { MONGO_WORD: 'm', AWS_SECRET_ACCESS_KEY: 'a', SMTP: 'given', CRM_KEY: 'c' };
    for (const name of ['MONGO_WORD', 'AWS_SECRET_ACCESS_KEY', 'CRM_KEY']) expect(await resolve(env, name)).toBeNull();
    expect(await resolve(env, 'SMTP')).toBe('stored');
    const some = secrets(env, ['SMTP', 'shop/CRM_KEY']);
    expect(await some.resolve('shop', 'SMTP')).toBe('given');
    expect(await some.resolve('other', 'SMTP')).toBe('given');
    expect(await some.resolve('shop', 'CRM_KEY')).toBe('c');
    expect(await some.resolve('other', 'CRM_KEY')).toBeNull();
  });

  it("of a workspace are never what the deployment's own file names, listed or not", async () => {
    const env = { MONGO_WORD: 'm', CARILLON_SECRET_SHOP__MONGO_WORD: 'of the shop' };
    const all = secrets(env, ['MONGO_WORD', 'other/MONGO_WORD'], ['MONGO_WORD']);
    expect(await all.resolve('other', 'MONGO_WORD')).toBeNull();
    expect(await all.resolve('shop', 'MONGO_WORD')).toBe('of the shop');
    expect(await all.resolve('', 'MONGO_WORD')).toBe('m');
  });

  it('of two workspaces are two, however their names and those of the secrets are made', async () => {
    expect(await resolve({ CARILLON_SECRET_A__B__KEY: 'x' }, 'B__KEY', 'a')).toBe('x');
    expect(await resolve({ CARILLON_SECRET_A__B__KEY: 'x' }, 'KEY', 'a--b')).toBeNull();
  });

  it('say where they are, so that whoever relied on any variable is told', async () => {
    const some = secrets({ OLD: 'x', CARILLON_SECRET_SHOP__NEW: 'y', LISTED: 'z', SMTP: 's' }, ['LISTED']);
    const places = ['OLD', 'NEW', 'LISTED', 'SMTP', 'UNKNOWN', 'CARILLON_MASTER_KEY'].map((name) =>
      some.locate('shop', name),
    );
    expect(await Promise.all(places)).toEqual(['hidden', 'environment', 'environment', 'stored', 'nowhere', 'stored']);
    expect(await some.locate('', 'OLD')).toBe('environment');
  });

  it("never give out the deployment's own variables, nor what every object has", async () => {
    expect(await resolve({ CARILLON_MASTER_KEY: 'the key' }, 'CARILLON_MASTER_KEY')).toBe('stored');
    expect(await resolve({ CARILLON_TOKEN: 'token' }, 'CARILLON_TOKEN')).toBeNull();
    expect(await resolve({}, 'constructor')).toBeNull();
  });
});
