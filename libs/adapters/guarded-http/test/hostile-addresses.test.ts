import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createAddressGuard, createNameResolver, type ResolveName } from '../src/index.ts';
import { httpWith, listenOn, requestTo, type TestServer } from './canary.ts';
import { LOOPBACK_FORMS, OTHER_FORMS } from './hostile-addresses.ts';

/** Names that a hostile tenant owns, and otherwise those of the machine. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  'localhost.': ['127.0.0.1'],
  'canary.example': ['127.0.0.1'],
  'canary6.example': ['::1'],
  // One good address makes no good name: which of them is connected to is not ours to say.
  'one-of-two.example': ['127.0.0.1', '93.184.215.14'],
};
const ofMachine = createNameResolver();
const resolveName: ResolveName = async (host) => NAMES[host]?.map((address) => ({ address })) ?? ofMachine(host);

let canary: TestServer;
beforeEach(async () => {
  canary = await listenOn('::');
});
afterEach(() => canary.close());

const at = (form: string): string => form.replaceAll('PORT', String(canary.port));

describe('addresses that a tenant may not call', () => {
  it('have more than sixty spellings, and none of them reaches the test server', async () => {
    const http = httpWith([], resolveName);
    const forms = [...LOOPBACK_FORMS, ...OTHER_FORMS];
    expect(forms.length).toBeGreaterThanOrEqual(60);
    const answers = await Promise.all(forms.map((form) => http.request(requestTo(at(form)))));
    const told = answers.map((answer, index) => [forms[index], answer.ok ? answer.value.status : answer.error.reason]);
    const reasons = ['refused_address', 'unresolved'];
    expect(told.filter(([, reason]) => !reasons.includes(String(reason)))).toEqual([]);
    expect(canary.hits).toEqual([]);
    await http.close();
  });

  it('reach the test server if the guard is disabled', async () => {
    const http = httpWith(['0.0.0.0/0', '::/0'], async (host) => [...(await resolveName(host))].slice(0, 1));
    const silent = [];
    for (const form of LOOPBACK_FORMS) {
      const before = canary.hits.length;
      await http.request(requestTo(at(form)));
      if (canary.hits.length === before) silent.push(form);
    }
    // Who connects to zero arrives at loopback: the look at where a connection arrived refuses it even here.
    expect(silent).toEqual(LOOPBACK_FORMS.filter((form) => /\/\/(?:0|0x0|0\.0\.0\.0|\[::\]):/.test(form)));
    await http.close();
  });

  it('are refused with the same text, whatever listens there', async () => {
    const http = httpWith([], resolveName);
    const details = new Set<string>();
    for (const form of [
      'http://127.0.0.1:PORT/',
      'http://127.0.0.1:1/',
      'http://10.255.255.1/',
      'http://[::1]:PORT/',
    ]) {
      const answer = await http.request(requestTo(at(form)));
      details.add(answer.ok ? 'answered' : answer.error.detail);
    }
    expect(details.size).toBe(1);
    await http.close();
  });
});

describe('a host name that resolves to a private address', () => {
  it('is refused with the same error as a name that does not exist', async () => {
    const http = httpWith(['192.168.1.7'], async (host) => {
      if (host === 'nobody.internal') throw new Error('ENOTFOUND');
      if (host === 'nothing.internal') return [];
      return (NAMES[host] ?? ['10.0.0.5']).map((address) => ({ address }));
    });
    const hosts = ['nobody.internal', 'nothing.internal', 'database.internal', 'canary.example', 'one-of-two.example'];
    const told = await Promise.all(
      hosts.flatMap((host) =>
        [`http://${host}:${canary.port}/`, `https://${host}/`].map((url) => http.request(requestTo(url))),
      ),
    );
    const [first] = told;
    expect(first).toMatchObject({ ok: false, error: { reason: 'unresolved' } });
    expect(told.filter((one) => JSON.stringify(one) !== JSON.stringify(first))).toEqual([]);
    expect(canary.hits).toEqual([]);
    await http.close();
  });
});

describe('a host name whose address changes between lookups (DNS rebinding)', () => {
  it('is resolved once per connection, which goes to the checked address', async () => {
    const partner = await listenOn('127.0.0.2');
    let asked = 0;
    const http = httpWith(['127.0.0.2/32'], async () => [{ address: asked++ === 0 ? '127.0.0.2' : '127.0.0.1' }]);
    const first = await http.request(
      requestTo(`http://rebind.example:${partner.port}/`, { headers: { connection: 'close' } }),
    );
    expect([first.ok && first.value.status, asked]).toEqual([200, 1]);
    const second = await http.request(requestTo(`http://rebind.example:${canary.port}/`));
    expect(second).toMatchObject({ ok: false, error: { reason: 'unresolved' } });
    expect([partner.hits.length, canary.hits.length]).toEqual([1, 0]);
    await http.close();
    await partner.close();
  });

  it('is not followed if a partner redirects to it', async () => {
    const partner = await listenOn('127.0.0.2', (_request, response) => {
      response.writeHead(307, { location: `http://127.0.0.1:${canary.port}/` }).end();
    });
    const http = httpWith(['127.0.0.2']);
    const answer = await http.request(requestTo(`http://127.0.0.2:${partner.port}/`));
    expect(answer).toMatchObject({ ok: true, value: { status: 307 } });
    expect(canary.hits).toEqual([]);
    await http.close();
    await partner.close();
  });
});

describe('the private addresses that a deployment allows', () => {
  it('are reachable without TLS and on any port, and no other private address is', async () => {
    const http = httpWith(['127.0.0.0/8']);
    expect(await http.request(requestTo(at('http://127.0.0.1:PORT/')))).toMatchObject({ ok: true });
    expect(await http.request(requestTo(at('http://[::1]:PORT/')))).toMatchObject({ ok: false });
    await http.close();
  });

  it('are ranges or single addresses; other text is refused when the setting is read', async () => {
    const guard = createAddressGuard({ allowed: ['10.0.0.0/8', 'fd00::/8', '192.168.1.7'] });
    for (const [host, ok] of [
      ['10.1.2.3', true],
      ['::ffff:10.1.2.3', true],
      ['192.168.1.7', true],
      ['192.168.1.8', false],
      ['fd00::1', true],
      ['fc00::1', false],
    ] as const) {
      expect([host, (await guard.resolve(host)).ok]).toEqual([host, ok]);
    }
    expect(await createAddressGuard({ allowed: ['0.0.0.0/0'] }).resolve('93.184.215.14')).toMatchObject({
      value: [{ listed: true, isPublic: true }],
    });
    expect(await guard.resolve('10.1.2.3')).toMatchObject({ value: [{ listed: true, isPublic: false }] });
    for (const wrong of ['10', '10.0.0.0/33', 'localhost', '', '0x0a.0.0.0/8', '10.0.0.1/']) {
      expect(() => createAddressGuard({ allowed: [wrong] })).toThrow(/is not an address range/);
    }
  });

  it('need not include public addresses, which are reachable by https on ports 443 and 8443 only', async () => {
    const guard = createAddressGuard({ allowed: [] });
    expect(await guard.resolve('93.184.215.14')).toEqual({
      ok: true,
      value: [{ address: '93.184.215.14', family: 4, listed: false, isPublic: true }],
    });
    const http = httpWith([], async () => [{ address: '93.184.215.14' }]);
    for (const url of ['http://partner.example/', 'https://partner.example:22/', 'http://partner.example:443/']) {
      expect(await http.request(requestTo(url))).toMatchObject({
        ok: false,
        error: { reason: 'refused_address', detail: expect.stringContaining('only https') as string },
      });
    }
    await http.close();
  });
});

it('the public address of a cloud’s metadata agent is refused unless the operator lists it', async () => {
  const agent = '168.63.129.16';
  const guard = createAddressGuard({ allowed: [], resolveName: async () => [{ address: agent }] });
  for (const form of [agent, `::ffff:${agent}`, '[::ffff:a83f:8110]', 'agent.example']) {
    expect((await guard.resolve(form)).ok, form).toBe(false);
  }
  expect((await guard.resolve('168.63.129.15')).ok).toBe(true);
  expect((await createAddressGuard({ allowed: [agent] }).resolve(agent)).ok).toBe(true);
});
