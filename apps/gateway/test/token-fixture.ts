import {
  CHANGED_BY_OWNER,
  foldConfiguration,
  type JwtProviderBody,
  type ResourceChange,
  type StreamBody,
} from '@carillon/domain/configuration';
import { makeSigningKey, startKeySetServer, type KeySetServer, type SigningKey } from '@carillon/testing/tokens';
import { prepareFixture, type Fixture } from './gateway-fixture.ts';

export const ISSUER = 'https://auth.example.com/';
export const AUDIENCE = 'shop-events';

export type TokenFixture = Fixture & {
  close(): Promise<void>;
  /** Keys of the providers `auth` and `partner` of the workspace `shop`, and of `auth` of `blog`. */
  readonly keySets: Readonly<Record<'auth' | 'partner' | 'blog', KeySetServer>>;
  readonly signing: Readonly<Record<'auth' | 'partner' | 'blog', SigningKey>>;
};

/** What a good token of `auth` says. */
export const GOOD = { iss: ISSUER, aud: AUDIENCE };

/**
 * The gateway fixture with tokens: `shop/app` takes those of `auth` whose `sub` is the event's `user_id`, `shop/open` any
 * of `auth`, `shop/bulk` those in batches, `shop/partner` those of `partner`; `shop/orders` takes API keys.
 */
export async function prepareTokenFixture(): Promise<TokenFixture> {
  const fixture = await prepareFixture();
  const [auth, partner, blog] = await Promise.all(['a-1', 'p-1', 'b-1'].map((kid) => makeSigningKey(kid)));
  if (!auth || !partner || !blog) throw new Error('three keys were made');
  const signing = { auth, partner, blog };
  const keySets = {
    auth: await startKeySetServer(auth),
    partner: await startKeySetServer(partner),
    blog: await startKeySetServer(blog),
  };
  const provider = (workspace: string, name: string, body: JwtProviderBody): ResourceChange => ({
    ref: { kind: 'jwt_provider', workspace, name },
    based_on: null,
    body,
  });
  const stream = (name: string, body: StreamBody): ResourceChange => ({
    ref: { kind: 'stream', workspace: 'shop', name },
    based_on: null,
    body,
  });
  const changes = [
    provider('shop', 'auth', { jwks_url: keySets.auth.url, issuer: ISSUER, audience: AUDIENCE }),
    provider('shop', 'partner', { jwks_url: keySets.partner.url }),
    provider('blog', 'auth', { jwks_url: keySets.blog.url }),
    stream('app', { security: { jwt_provider: 'auth', claims: { sub: 'event.user_id' } } }),
    stream('open', { security: { jwt_provider: 'auth' } }),
    stream('bulk', { rate_per_credential: { per_second: 1000 }, security: { jwt_provider: 'auth' } }),
    stream('partner', { security: { jwt_provider: 'partner' } }),
  ];
  const record = { id: 'req_2', at: '2026-01-01T00:00:00.000Z', by: CHANGED_BY_OWNER, changes };
  fixture.configuration.current = foldConfiguration(fixture.configuration.current, record, 1).configuration;
  return {
    ...fixture,
    keySets,
    signing,
    async close() {
      await Promise.all(Object.values(keySets).map((server) => server.close()));
    },
  };
}
