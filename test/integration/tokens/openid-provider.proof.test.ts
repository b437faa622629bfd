import { createAddressGuard, createGuardedHttp } from '@carillon/adapter-guarded-http';
import { createTokenVerifier, type FetchedKeySet } from '@carillon/adapter-jwks';
import {
  CHANGED_BY_OWNER,
  EMPTY_CONFIGURATION,
  foldConfiguration,
  type Configuration,
  type ResourceChange,
} from '@carillon/domain/configuration';
import { startGateway, type RunningGateway } from '@carillon/gateway';
import type { OutboundHttp } from '@carillon/ports';
import { startOpenIdProvider, type OpenIdProvider } from '@carillon/testing/openid';
import { forgeToken } from '@carillon/testing/tokens';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openGatewayBackend, type GatewayBackend } from '../../support/gateway-backend.ts';

/*
 * A real OpenID provider, the real gateway, and HTTP between them through the guard. Only the clock is the test's, so
 * that a day of outage takes no day.
 */

const AUDIENCE = 'https://events.example.com';
const SECOND = 1000;
const HOUR = 3_600_000;

let provider: OpenIdProvider;
let backend: GatewayBackend;
let http: OutboundHttp;
let gateway: RunningGateway;
let fetched: FetchedKeySet[];
let ahead = 0;
beforeEach(async () => {
  ahead = 0;
  fetched = [];
  provider = await startOpenIdProvider();
  backend = await openGatewayBackend();
  http = createGuardedHttp({ guard: createAddressGuard({ allowed: ['127.0.0.1'] }) });
  // It stands still but for what the test lets pass: how long the test itself takes counts nowhere.
  const began = Date.now();
  const clock = { now: () => began + ahead };
  const watch = { fetched: (what: FetchedKeySet) => void fetched.push(what), judged: () => undefined };
  const current = configured({ issuer: provider.issuer, jwks_url: provider.jwksUrl, audience: AUDIENCE });
  gateway = await startGateway(
    { host: '127.0.0.1', port: 0, closeDeadline: 1000 },
    {
      ...backend,
      clock,
      tokens: createTokenVerifier({ http, clock, watch }),
      configuration: { current: () => current, readToEndAt: () => clock.now(), refresh: async () => current },
    },
  );
});
afterEach(async () => {
  await gateway.close();
  await http.close();
  await provider.stop();
});

function configured(body: { jwks_url: string; issuer: string; audience: string }): Configuration {
  const changes: ResourceChange[] = [
    { ref: { kind: 'jwt_provider', workspace: 'shop', name: 'auth' }, based_on: null, body },
    {
      ref: { kind: 'stream', workspace: 'shop', name: 'app' },
      based_on: null,
      body: { security: { jwt_provider: 'auth', claims: { sub: 'event.user_id' } } },
    },
  ];
  const record = { id: 'req_1', at: '2026-01-01T00:00:00.000Z', by: CHANGED_BY_OWNER, changes };
  return foldConfiguration(EMPTY_CONFIGURATION, record, 0).configuration;
}

const pass = (milliseconds: number): void => void (ahead += milliseconds);

async function post(token: string, user = 'ada'): Promise<string> {
  const answer = await fetch(`${gateway.address}/events/shop/app`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ user_id: user }),
  });
  const { code } = (await answer.json()) as { code?: string };
  return `${answer.status}${code === undefined ? '' : ` ${code}`}`;
}

describe('Tokens of an OpenID provider', () => {
  it('let their holder send events about itself only, and are refused for another audience', async () => {
    const ada = await provider.token('ada', AUDIENCE);
    expect(await post(ada)).toBe('202');
    expect(await post(ada, 'bob')).toBe('403 claim_mismatch');
    expect(await post(await provider.token('bob', AUDIENCE))).toBe('403 claim_mismatch');
    expect(await post(await provider.token('bob', AUDIENCE), 'bob')).toBe('202');
    expect(await post(await provider.token('ada', 'https://another.example.com'))).toBe('401 unauthorized');
    expect(provider.asked()).toBe(1);
  });

  it('expire at their own time', async () => {
    const ada = await provider.token('ada', AUDIENCE);
    pass(90 * 24 * HOUR - 30 * SECOND);
    expect(await post(ada)).toBe('202');
    pass(100 * SECOND);
    expect(await post(ada)).toBe('401 unauthorized');
  });
});

describe('Rotation', () => {
  it('of keys is noticed with the first token of the new key; old tokens are valid until the old key is withdrawn', async () => {
    const old = await provider.token('ada', AUDIENCE);
    expect(await post(old)).toBe('202');
    await provider.rotate();
    const fresh = await provider.token('ada', AUDIENCE);
    pass(31 * SECOND);
    expect(await post(fresh)).toBe('202');
    expect(await post(old)).toBe('202');
    expect(provider.asked()).toBe(2);
    provider.forgetOldKeys();
    pass(11 * 60 * SECOND);
    expect(await post(fresh)).toBe('202');
    expect(await post(old)).toBe('401 unauthorized');
    expect(await post(fresh)).toBe('202');
  });

  it('three times over loses no request whose token was issued in time', async () => {
    for (let round = 0; round < 3; round += 1) {
      await provider.rotate();
      pass(31 * SECOND);
      const tokens = await Promise.all(Array.from({ length: 20 }, () => provider.token('ada', AUDIENCE)));
      const answers = await Promise.all(tokens.map((token) => post(token)));
      expect(new Set(answers)).toEqual(new Set(['202']));
    }
    expect(provider.asked()).toBe(3);
  });
});

describe('An outage of the provider', () => {
  it('is served through for a day, then answered 503, and over when the provider is back', async () => {
    const ada = await provider.token('ada', AUDIENCE);
    const bob = await provider.token('bob', AUDIENCE);
    expect(await post(ada)).toBe('202');
    await provider.stop();
    for (let hours = 0; hours < 23; hours += 1) {
      pass(HOUR);
      expect(await post(ada)).toBe('202');
    }
    // Also one that was never seen before: its key is known.
    expect(await post(bob, 'bob')).toBe('202');
    expect(await post(ada, 'bob')).toBe('403 claim_mismatch');
    pass(2 * HOUR);
    expect(await post(ada)).toBe('503 keys_unavailable');
    await provider.start();
    expect(await post(ada)).toBe('503 keys_unavailable');
    pass(31 * SECOND);
    expect(await post(ada)).toBe('202');
    const turns = fetched.filter(({ turned }) => turned).map(({ failure }) => failure === null);
    expect(turns).toEqual([false, true]);
  });

  it('from the first minute on lets nobody in, and does not say that a good token is bad', async () => {
    const ada = await provider.token('ada', AUDIENCE);
    await provider.stop();
    expect(await post(ada)).toBe('503 keys_unavailable');
    expect(await post('rubbish.rubbish.rubbish')).toBe('401 unauthorized');
    await provider.start();
    pass(31 * SECOND);
    expect(await post(ada)).toBe('202');
  });
});

describe('A storm', () => {
  it('of 2,000 tokens with unknown keys fetches the keys once in 30 seconds, and valid tokens are accepted', async () => {
    const ada = await provider.token('ada', AUDIENCE);
    expect(await post(ada)).toBe('202');
    pass(31 * SECOND);
    for (let round = 0; round < 20; round += 1) {
      const storm = Array.from({ length: 100 }, (_, at) =>
        post(forgeToken({ alg: 'RS256', kid: `storm-${round}-${at}` }, { sub: 'ada', exp: 9_999_999_999 })),
      );
      expect(new Set(await Promise.all(storm))).toEqual(new Set(['401 unauthorized']));
      expect(await post(ada)).toBe('202');
    }
    expect(provider.asked()).toBe(2);
  });
});

describe('The guard', () => {
  it('refuses a URL that the operator has not allowed, and the token is not checked', async () => {
    const strict = createGuardedHttp({ guard: createAddressGuard({ allowed: [] }) });
    const verifier = createTokenVerifier({ http: strict, clock: { now: () => Date.now() } });
    const settings = {
      issuer: null,
      audiences: [],
      algorithms: ['RS256'],
      tokenType: null,
      clockTolerance: 0,
    } as const;
    const where = { workspace: 'shop', name: 'auth', number: 1 };
    const asked = { ...where, settings: { ...settings, maxTokenAge: null, jwksUrl: provider.jwksUrl } };
    const token = await provider.token('ada', AUDIENCE);
    expect(await verifier.verify(asked, token)).toMatchObject({ kind: 'unavailable' });
    const { steps } = await verifier.inspect(asked, token);
    expect(steps).toEqual([
      { step: 'key set', ok: false, detail: expect.stringContaining('operator of the deployment') as string },
    ]);
    expect(provider.asked()).toBe(0);
    await strict.close();
  });
});
