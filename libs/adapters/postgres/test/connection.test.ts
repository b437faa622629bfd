import { err, ok } from '@carillon/kernel';
import type { AddressGuard } from '@carillon/ports';
import { describe, expect, it } from 'vitest';
import { failureOf } from '../src/connection/connection-errors.ts';
import { readSourceUrl, type SourceUrl } from '../src/connection/source-url.ts';
import { chooseTls } from '../src/connection/tls.ts';
import { createPostgresSources } from '../src/index.ts';

const read = (text: string): SourceUrl => {
  const url = readSourceUrl(text);
  if (typeof url === 'string') throw new Error(url);
  return url;
};

describe('the URL of a database', () => {
  it('is read with escapes, defaults and addresses of both families', () => {
    expect(read('postgres://carillon:p%40ss%2Fw@db.example.com:6432/shop?sslmode=verify-ca')).toEqual({
      host: 'db.example.com',
      port: 6432,
      user: 'carillon',
      password: 'p@ss/w',
      database: 'shop',
      sslMode: 'verify-ca',
    });
    expect(read('postgresql://me@[::1]')).toEqual({
      host: '::1',
      port: 5432,
      user: 'me',
      password: '',
      database: 'me',
      sslMode: null,
    });
    expect(read('postgres://me:50%25%@h/d').password).toBe('50%25%');
  });

  it.each([
    'shop',
    'mysql://me:canary@h/d',
    'postgres://h/d',
    'postgres:///d',
    'postgres://me:canary@h:port/d',
    'postgres://me:canary@h1:1,h2:2/d',
    'postgres://me:canary@h/d?sslmode=canary',
  ])('is refused as %s, without quoting it', (text) => {
    const problem = readSourceUrl(text);
    expect(problem).toMatch(/^The URL .*\.$/);
    expect(problem).not.toContain('canary');
  });
});

describe('TLS', () => {
  const wish = (mode: string, ca: string | null, isPrivate: boolean): unknown => {
    const tls = chooseTls(read(`postgres://me@db.test/d${mode && `?sslmode=${mode}`}`), ca, isPrivate);
    if (tls.use === 'never') return 'never';
    const { rejectUnauthorized, checkServerIdentity, servername } = tls.options;
    expect(servername).toBe('db.test');
    return `${tls.use}, ${rejectUnauthorized ? (checkServerIdentity ? 'authority' : 'authority and name') : 'unchecked'}`;
  };

  it.each([
    ['', null, 'preferred, unchecked'],
    ['disable', null, 'never'],
    ['prefer', null, 'preferred, unchecked'],
    ['require', null, 'always, unchecked'],
    ['verify-ca', null, 'always, authority'],
    ['verify-full', null, 'always, authority and name'],
    ['', 'PEM', 'always, authority and name'],
    ['prefer', 'PEM', 'always, authority and name'],
    ['require', 'PEM', 'always, authority and name'],
    ['verify-ca', 'PEM', 'always, authority'],
    ['disable', 'PEM', 'never'],
  ])('at a private address with sslmode %j and authority %j is %s', (mode, ca, expected) =>
    expect(wish(mode, ca, true)).toBe(expected),
  );

  it.each(['', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'])(
    'at a public address checks authority and name with sslmode %j',
    (mode) => expect(wish(mode, null, false)).toBe('always, authority and name'),
  );

  it('at a public address refuses sslmode=disable', () => {
    expect(() => wish('disable', null, false)).toThrow('`sslmode=disable` is for private addresses only');
  });
});

describe('an address that the guard refuses', () => {
  const check = async (host: string, reason: 'refused_address' | 'unresolved'): Promise<unknown> => {
    const guard: AddressGuard = { resolve: () => Promise.resolve(err({ reason, detail: '' })) };
    const target = { workspace: 'shop', integration: 'shop-db', url: `postgres://me:canary@${host}/d`, ca: null };
    return (await createPostgresSources({ guard }).check(target, [])).problems;
  };

  it('prints the line of the configuration that allows it', async () => {
    expect(await check('10.1.2.3', 'refused_address')).toEqual([
      { reason: 'refused_address', detail: null, fix: 'allowed_private_addresses: ["10.1.2.3"]' },
    ]);
    expect(await check('localhost', 'unresolved')).toEqual([
      { reason: 'refused_address', detail: null, fix: 'allowed_private_addresses: ["127.0.0.1", "::1"]' },
    ]);
    expect(await check('db.internal', 'unresolved')).toEqual([
      {
        reason: 'refused_address',
        detail: 'ADDRESS stands for what the name of the host leads to.',
        fix: 'allowed_private_addresses: ["ADDRESS"]',
      },
    ]);
  });

  it('is judged once, and the connection goes to what was judged', async () => {
    const asked: string[] = [];
    const guard: AddressGuard = {
      resolve(host) {
        asked.push(host);
        return Promise.resolve(ok([{ address: '127.0.0.1', family: 4, listed: true, isPublic: false }]));
      },
    };
    const url = 'postgres://me:canary@no-such-host.invalid:1/d';
    const target = { workspace: 'a', integration: 'b', url, ca: null };
    const { problems } = await createPostgresSources({ guard }).check(target, []);
    expect(problems).toEqual([{ reason: 'unreachable', detail: 'No server listens at the address.', fix: null }]);
    expect(asked).toEqual(['no-such-host.invalid']);
  });
});

describe('errors of a connection', () => {
  it('never hold the password', () => {
    const url = read('postgres://me:p%40canary@h/d');
    for (const code of [
      '28P01',
      '28000',
      '3D000',
      '08P01',
      '42501',
      '53300',
      '53400',
      'XX000',
      'ECONNRESET',
      'ERR_TLS_X',
    ]) {
      const error = Object.assign(new Error('refused p@canary and p%40canary'), { code });
      expect(JSON.stringify(failureOf(error, url).failure)).not.toContain('canary');
    }
  });
});
