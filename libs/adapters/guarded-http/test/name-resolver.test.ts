import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { lookup } from 'node:dns/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createAddressGuard, createNameResolver, type ResolveName } from '../src/index.ts';
import { startNameServer, type NameServer, type Zone } from './name-server.ts';

const SILENT = Array.from({ length: 40 }, (_, at) => `slow-${at}.tenant.example`);
const ZONE: Zone = {
  'partner.example': ['93.184.215.14', '93.184.215.15'],
  'crm.shop.svc.cluster.local': ['10.1.2.3'],
  crm: ['10.9.9.9'],
  'pinned.example': ['93.184.215.14'],
  ...Object.fromEntries(SILENT.map((name) => [name, 'silence' as const])),
};
const HOSTS = `127.0.0.1 localhost # ::1 localhost
10.0.0.5  Pinned.example pinned
fd00::5\tpinned.example
`;

let folder: string;
let server: NameServer;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'carillon-names-'));
  writeFileSync(join(folder, 'hosts'), HOSTS);
  writeFileSync(join(folder, 'resolv.conf'), 'nameserver 192.0.2.1\nsearch shop.svc.cluster.local cluster.local.\n');
  server = await startNameServer(ZONE);
});
afterEach(async () => {
  await server.close();
  rmSync(folder, { recursive: true });
});

const resolverWith = (more: { hostsFile?: string; deadline?: number } = {}): ResolveName =>
  createNameResolver({
    hostsFile: join(folder, 'hosts'),
    resolvConf: join(folder, 'resolv.conf'),
    servers: [server.address],
    ...more,
  });
const addressesOf = async (host: string, resolve = resolverWith()): Promise<readonly string[]> =>
  (await resolve(host)).map(({ address }) => address);

describe('resolving a host name', () => {
  it('uses the hosts file before DNS, in any spelling', async () => {
    for (const host of ['pinned.example', 'PINNED.example', 'pinned.example.']) {
      expect(await addressesOf(host)).toEqual(['10.0.0.5', 'fd00::5']);
    }
    expect(await addressesOf('localhost')).toEqual(['127.0.0.1']);
    expect(server.questions).toEqual([]);
  });

  it('resolves localhost without a file and without a query', async () => {
    const bare = resolverWith({ hostsFile: join(folder, 'nowhere') });
    for (const host of ['localhost', 'localhost.', 'app.localhost']) {
      expect(await addressesOf(host, bare)).toEqual(['127.0.0.1', '::1']);
    }
    expect(server.questions).toEqual([]);
  });

  it('queries DNS for IPv4 and IPv6 at once and returns all addresses', async () => {
    expect(await addressesOf('partner.example')).toEqual(['93.184.215.14', '93.184.215.15']);
    expect(server.questions.toSorted()).toEqual(['A partner.example', 'AAAA partner.example']);
  });

  it('tries search domains first for short names, last for longer ones, and never for names with a final dot', async () => {
    expect(await addressesOf('crm')).toEqual(['10.1.2.3']);
    expect(await addressesOf('crm.')).toEqual(['10.9.9.9']);
    expect(await addressesOf('crm.shop.svc')).toEqual(['10.1.2.3']);
    expect(server.questions.filter((one) => one.startsWith('A ')).slice(2)).toEqual([
      'A crm.shop.svc',
      'A crm.shop.svc.shop.svc.cluster.local',
      'A crm.shop.svc.cluster.local',
    ]);
  });

  it('returns no address for an unknown name', async () => {
    expect(await addressesOf('nobody.example')).toEqual([]);
  });
});

describe('a DNS server that does not answer', () => {
  it('delays no other names and no threads, and is abandoned at the deadline', async () => {
    const resolve = resolverWith({ deadline: 4_000 });
    const begun = performance.now();
    const ended: string[] = [];
    const silent = SILENT.map((name) =>
      resolve(name).then(
        () => ended.push('answered'),
        () => ended.push('given up'),
      ),
    );
    expect(await addressesOf('partner.example')).toHaveLength(2);
    // The machine's own look-up, which needs a thread.
    await lookup('localhost');
    expect(ended).toEqual([]);
    await Promise.all(silent);
    expect(new Set(ended)).toEqual(new Set(['given up']));
    expect(performance.now() - begun).toBeLessThan(60_000);
    // The resolver waited for the answer, so it tried no search domain.
    expect(server.questions.filter((one) => one.includes('cluster.local'))).toEqual([]);
  });
});

it('the guard checks the resolved addresses and connects only to allowed ones', async () => {
  const guard = createAddressGuard({ allowed: ['10.0.0.0/8', 'fd00::/8'], resolveName: resolverWith() });
  expect(await guard.resolve('pinned.example')).toMatchObject({
    ok: true,
    value: [
      { address: '10.0.0.5', listed: true },
      { address: 'fd00::5', listed: true },
    ],
  });
  expect(await guard.resolve('partner.example')).toMatchObject({ ok: true, value: [{ listed: false }, {}] });
  for (const host of ['localhost', 'nobody.example']) expect((await guard.resolve(host)).ok).toBe(false);
  const ofMachine = createAddressGuard({ allowed: ['127.0.0.0/8', '::1'] });
  expect(await ofMachine.resolve('not-in-the-file.localhost')).toMatchObject({ ok: true, value: [{}, {}] });
});
