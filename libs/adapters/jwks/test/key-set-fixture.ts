import { jwtSettings, type JwtProviderBody } from '@carillon/domain/configuration';
import type { TokenProvider, TokenVerifier } from '@carillon/ports';
import {
  loopbackHttp,
  makeSigningKey,
  startKeySetServer,
  type KeySetServer,
  type SigningKey,
} from '@carillon/testing/tokens';
import { createTokenVerifier, type FetchedKeySet, type TokenCheck, type KeySetBounds } from '../src/index.ts';

export type Fixture = {
  readonly server: KeySetServer;
  readonly key: SigningKey;
  readonly verifier: TokenVerifier;
  readonly fetched: FetchedKeySet[];
  readonly judged: TokenCheck[];
  /** Moves the verifier's clock. */
  pass(milliseconds: number): void;
  now(): number;
  /** Under a configuration of its own, unless a number is given. */
  provider(body?: Partial<JwtProviderBody>, number?: number): TokenProvider;
  close(): Promise<void>;
};

/** A key-set server with one key, a verifier with a clock of its own, and all that they tell. */
export async function prepareFixture(bounds: Partial<KeySetBounds> = {}): Promise<Fixture> {
  const key = await makeSigningKey('first');
  const server = await startKeySetServer(key);
  const fetched: FetchedKeySet[] = [];
  const judged: TokenCheck[] = [];
  let at = Date.now();
  let newest = 1000;
  const verifier = createTokenVerifier({
    http: loopbackHttp,
    clock: { now: () => at },
    bounds,
    watch: { fetched: (what) => void fetched.push(what), judged: (what) => void judged.push(what) },
  });
  return {
    server,
    key,
    verifier,
    fetched,
    judged,
    pass(milliseconds) {
      at += milliseconds;
    },
    now: () => at,
    provider: (body = {}, number = (newest += 1)) => ({
      workspace: 'shop',
      name: 'auth',
      number,
      settings: jwtSettings({ jwks_url: server.url, ...body }),
    }),
    close: () => server.close(),
  };
}
