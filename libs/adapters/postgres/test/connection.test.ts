import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { err, ok } from '@carillon/kernel';
import type { AddressGuard, SourceTarget } from '@carillon/ports';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DEFAULT_TIMING } from '../src/access.ts';
import { connect } from '../src/connection/connect.ts';
import { failureOf } from '../src/connection/connection-errors.ts';
import { readSourceUrl, type SourceUrl } from '../src/connection/source-url.ts';
import { chooseTls } from '../src/connection/tls.ts';
import { createPostgresSources } from '../src/index.ts';
import { ReplicationStream } from '../src/reading/replication-stream.ts';

const read = (text: string): SourceUrl => {
  const url = readSourceUrl(text);
  if (typeof url === 'string') throw new Error(url);
  return url;
};

describe('the URL of a PostgreSQL source', () => {
  it('is parsed with escapes, defaults, and IPv4 and IPv6 addresses', () => {
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
  ])('is refused as %s, without quoting it', async (text) => {
    const problem = readSourceUrl(text);
    expect(problem).toMatch(/^The URL .*\.$/);
    expect(problem).not.toContain('canary');
    const guard: AddressGuard = { resolve: () => Promise.reject(new Error('no connection is made')) };
    const target = { workspace: 'a', integration: 'b', url: text, ca: null };
    const { problems } = await createPostgresSources({ guard }).check(target, []);
    expect(problems).toEqual([{ reason: 'wrong_url', detail: problem, fix: null }]);
  });
});

describe('the TLS settings of a PostgreSQL source', () => {
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
  ])('at a private address with sslmode %j and authority %j give %s', (mode, ca, expected) =>
    expect(wish(mode, ca, true)).toBe(expected),
  );

  it.each(['', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'])(
    'at a public address check authority and name with sslmode %j',
    (mode) => expect(wish(mode, null, false)).toBe('always, authority and name'),
  );

  it('at a public address refuse sslmode=disable', () => {
    expect(() => wish('disable', null, false)).toThrow('`sslmode=disable` is for private addresses only');
  });
});

describe('a PostgreSQL address that the guard refuses', () => {
  const check = async (host: string, reason: 'refused_address' | 'unresolved'): Promise<unknown> => {
    const guard: AddressGuard = { resolve: () => Promise.resolve(err({ reason, detail: '' })) };
    const target = { workspace: 'shop', integration: 'shop-db', url: `postgres://me:canary@${host}/d`, ca: null };
    return (await createPostgresSources({ guard }).check(target, [])).problems;
  };

  it('causes an error with the line of the configuration that allows it', async () => {
    expect(await check('10.1.2.3', 'refused_address')).toEqual([
      { reason: 'refused_address', detail: null, fix: 'allowed_private_addresses: ["10.1.2.3"]' },
    ]);
    expect(await check('localhost', 'unresolved')).toEqual([
      { reason: 'refused_address', detail: null, fix: 'allowed_private_addresses: ["127.0.0.1", "::1"]' },
    ]);
    expect(await check('db.internal', 'unresolved')).toEqual([
      {
        reason: 'refused_address',
        detail:
          'the host name has no address, or an address that is not allowed: replace ADDRESS by the address of the host',
        fix: 'allowed_private_addresses: ["ADDRESS"]',
      },
    ]);
  });

  it('is checked once, and the connection goes to the checked address', async () => {
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

describe('a public PostgreSQL address that the deployment lists', () => {
  it('is checked with TLS like any other public address', async () => {
    const guard: AddressGuard = {
      resolve: () =>
        Promise.resolve(
          ok([
            { address: '127.0.0.1', family: 4, listed: true, isPublic: true },
            { address: '127.0.0.1', family: 4, listed: true, isPublic: false },
          ]),
        ),
    };
    const url = 'postgres://me:canary@db.test:1/d?sslmode=disable';
    const target = { workspace: 'a', integration: 'b', url, ca: null };
    const { problems } = await createPostgresSources({ guard }).check(target, []);
    expect(problems).toMatchObject([{ reason: 'wrong_url' }]);
  });
});

describe('a PostgreSQL server that stops responding', () => {
  let server: Server;
  const sockets: Socket[] = [];
  /** Accepts every login, then neither answers nor closes. */
  beforeEach(async () => {
    server = createServer({ allowHalfOpen: true }, (socket) => {
      sockets.push(socket);
      socket.on('error', () => undefined);
      socket.once('data', () => socket.write(Buffer.from('5200000008000000005a0000000549', 'hex')));
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
  });
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });

  const guard: AddressGuard = {
    resolve: () => Promise.resolve(ok([{ address: '127.0.0.1', family: 4, listed: true, isPublic: false }])),
  };
  const timing = { ...DEFAULT_TIMING, answerMs: 50 };
  const target = (): SourceTarget => {
    const { port } = server.address() as AddressInfo;
    return { workspace: 'a', integration: 'b', url: `postgres://me@127.0.0.1:${port}/d?sslmode=disable`, ca: null };
  };

  it.each(['sql', 'replication'] as const)('fails a statement on a connection for %s as unreachable', async (kind) => {
    const connection = await connect({ guard, timing }, target(), kind);
    const failure = await connection.query('SELECT 1').catch((error: unknown) => connection.failure(error).failure);
    expect(failure).toMatchObject({ reason: 'unreachable', detail: 'The server did not answer in time.' });
    await connection.end();
  });

  it('is reached by a second connection at the address of the first, whatever its name resolves to then', async () => {
    const first = await connect({ guard, timing }, target(), 'sql');
    const elsewhere: AddressGuard = { resolve: () => Promise.reject(new Error('the name was resolved again')) };
    const second = await connect({ guard: elsewhere, timing }, target(), 'replication', first);
    await Promise.all([first.end(), second.end()]);
  });

  it('does not prevent closing a connection', async () => {
    const connection = await connect({ guard, timing }, target(), 'sql');
    await connection.end();
    expect(connection.client).toMatchObject({ connection: { stream: { destroyed: true } } });
  });

  it('does not keep the start of a stream waiting', async () => {
    const connection = await connect({ guard, timing }, target(), 'replication');
    const start = ReplicationStream.start(
      connection,
      { slot: 's', publication: 'p', from: 0n },
      { statusMs: 1000, silenceMs: 50 },
    );
    await expect(start).rejects.toThrow();
    await connection.end();
  });
});

describe('errors of a PostgreSQL connection', () => {
  it('quote at most 500 characters of the server', () => {
    const error = Object.assign(new Error('x'.repeat(10_000)), { code: 'XX000' });
    const { detail } = failureOf(error, read('postgres://me@h/d')).failure;
    expect(detail).toMatch(/: x{500}$/);
  });

  it('never contain the password', () => {
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
