import { err, ok, type Duration, type Json, type Result } from '@carillon/kernel';
import {
  PROOF_DEADLINE,
  type Clock,
  type IdentityClient,
  type IdentityProviders,
  type OutboundHttp,
  type ProofFailure,
} from '@carillon/ports';
import * as openid from 'openid-client';
import { boundedFetch } from './bounded-fetch.ts';
import { failureOf } from './failures.ts';

/** The description of a provider is read again after this long. Keys and everything of a person are asked for each time. */
const DESCRIPTION_LASTS: Duration = 5 * 60_000;
/** Clocks of both sides may differ by so many seconds. */
const CLOCK_TOLERANCE_SECONDS = 30;

type Description = { readonly metadata: openid.ServerMetadata; readonly readAt: number };

/** OpenID providers by `openid-client`, which checks all that came: issuer, audience, nonce, state, times and signature. */
export function createIdentityProviders(parts: {
  readonly http: Pick<OutboundHttp, 'request'>;
  readonly clock: Pick<Clock, 'now'>;
}): IdentityProviders {
  const descriptions = new Map<string, Description>();
  /** Many who begin at once ask the provider once. */
  const reading = new Map<string, Promise<openid.ServerMetadata>>();

  async function describe(issuer: string): Promise<openid.ServerMetadata> {
    const known = descriptions.get(issuer);
    if (known && Math.abs(parts.clock.now() - known.readAt) < DESCRIPTION_LASTS) return known.metadata;
    const underWay = reading.get(issuer);
    if (underWay) return underWay;
    const asked = readDescription(issuer).finally(() => reading.delete(issuer));
    reading.set(issuer, asked);
    return asked;
  }

  async function readDescription(issuer: string): Promise<openid.ServerMetadata> {
    const found = await openid.discovery(new URL(issuer), 'none', undefined, openid.None(), {
      [openid.customFetch]: boundedFetch(parts.http, AbortSignal.timeout(PROOF_DEADLINE)),
      ...(isClear(issuer) && { execute: [openid.allowInsecureRequests] }),
    });
    const metadata = found.serverMetadata();
    // Descriptions of removed providers expire. There are at most ten providers.
    for (const [one, { readAt }] of descriptions) {
      if (Math.abs(parts.clock.now() - readAt) >= DESCRIPTION_LASTS) descriptions.delete(one);
    }
    descriptions.set(issuer, { metadata, readAt: parts.clock.now() });
    return metadata;
  }

  /** Fresh for each call: the key set that it remembers is that of this call, so that a key which was exchanged is seen at once. */
  async function open(client: IdentityClient): Promise<openid.Configuration> {
    const metadata = await describe(client.issuer);
    const settings = { [openid.clockTolerance]: CLOCK_TOLERANCE_SECONDS };
    const configuration = new openid.Configuration(
      metadata,
      client.clientId,
      settings,
      authentication(client, metadata),
    );
    configuration[openid.customFetch] = boundedFetch(parts.http, AbortSignal.timeout(PROOF_DEADLINE));
    configuration.timeout = PROOF_DEADLINE / 1000;
    openid.enableNonRepudiationChecks(configuration);
    if (isClear(client.issuer)) openid.allowInsecureRequests(configuration);
    return configuration;
  }

  async function attempt<Found>(work: () => Promise<Found>): Promise<Result<Found, ProofFailure>> {
    try {
      return ok(await work());
    } catch (error) {
      return err(failureOf(error));
    }
  }

  return {
    begin: (client) =>
      attempt(async () => {
        const configuration = await open(client);
        const proof = {
          state: openid.randomState(),
          nonce: openid.randomNonce(),
          verifier: openid.randomPKCECodeVerifier(),
        };
        const location = openid.buildAuthorizationUrl(configuration, {
          redirect_uri: client.redirectUri,
          scope: [...new Set(['openid', ...client.scopes])].join(' '),
          code_challenge: await openid.calculatePKCECodeChallenge(proof.verifier),
          code_challenge_method: 'S256',
          state: proof.state,
          nonce: proof.nonce,
        });
        return { location: location.href, proof };
      }),
    finish: (client, proof, query, wanted) =>
      attempt(async () => {
        const configuration = await open(client);
        const back = new URL(client.redirectUri);
        back.search = query;
        const tokens = await openid.authorizationCodeGrant(configuration, back, {
          expectedState: proof.state,
          expectedNonce: proof.nonce,
          pkceCodeVerifier: proof.verifier,
          idTokenExpected: true,
        });
        const claims = tokens.claims();
        if (!claims) throw new openid.ClientError('the provider sent no ID token');
        checkClaims(claims);
        const silent = wanted.some((name) => claims[name] === undefined);
        const asks = silent && configuration.serverMetadata().userinfo_endpoint !== undefined;
        const more = asks ? await openid.fetchUserInfo(configuration, tokens.access_token, claims.sub) : {};
        // Signed claims override unsigned ones.
        return { issuer: claims.iss, subject: claims.sub, claims: { ...more, ...claims } as Record<string, Json> };
      }),
  };
}

const isClear = (issuer: string): boolean => issuer.startsWith('http:');

/** Throws for claims that `openid-client` lets through. It reads the machine's clock for `exp`, so `iat` is compared with the same. */
function checkClaims({ sub, iat }: openid.IDToken): void {
  if (sub === '') throw new openid.ClientError('the sub of the ID token is empty');
  if (iat > Date.now() / 1000 + CLOCK_TOLERANCE_SECONDS) {
    throw new openid.ClientError('the ID token was issued in the future: compare the clocks of both machines');
  }
}

/** Uses the header as in the standard, or the body if the provider supports only that. */
function authentication({ clientSecret }: IdentityClient, metadata: openid.ServerMetadata): openid.ClientAuth {
  if (clientSecret === null) return openid.None();
  const taken = metadata.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  const byHeader = taken.includes('client_secret_basic') || !taken.includes('client_secret_post');
  return byHeader ? openid.ClientSecretBasic(clientSecret) : openid.ClientSecretPost(clientSecret);
}
