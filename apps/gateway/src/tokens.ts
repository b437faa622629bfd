import { jwtSettings, listResources, type Configuration, type EventStream } from '@carillon/domain/configuration';
import { pointerTo, stepsOf, unmetBinding } from '@carillon/domain/events';
import { CarillonError, isJsonObject, parseJson, type Duration, type JsonObject } from '@carillon/kernel';
import type { TokenProvider, TokenVerifier } from '@carillon/ports';
import { unauthorized } from './unauthorized.ts';

/** A valid token with the name of the provider that signed it. */
export type FoundToken = { readonly provider: string; readonly claims: JsonObject };

/** Maximum providers tried per token. Several are possible only if providers name no issuer. */
const MAX_TRIED = 3;

const PROVIDERS = new WeakMap<Configuration, ReadonlyMap<string, readonly TokenProvider[]>>();

/** Tokens have two dots, API keys none. */
export const isToken = (presented: string): boolean => presented.includes('.');

/**
 * Returns the provider of the workspace that signed the token. Tries the stream's own provider first; the others only
 * so that a valid token of the workspace gets 403 or 404 like any credential. The unverified `iss` selects the
 * providers to try. Throws `unauthorized`, or `keys_unavailable` if verification is impossible now.
 */
export async function findToken(
  configuration: Configuration,
  workspace: string,
  stream: EventStream | undefined,
  token: string,
  tokens: Pick<TokenVerifier, 'verify'>,
): Promise<FoundToken> {
  const all = providersByWorkspace(configuration).get(workspace) ?? [];
  const own = all.find(({ name }) => name === stream?.security.jwt_provider);
  let unavailable: Duration | null = null;
  for (const provider of providersToAsk(all, own, token)) {
    const verdict = await tokens.verify(provider, token);
    if (verdict.kind === 'valid') return { provider: provider.name, claims: verdict.claims };
    if (verdict.kind === 'refused') {
      if (verdict.signed) throw signedButBad(verdict.detail);
    } else if (provider === own) throw keysUnavailable(verdict.retryAfter);
    else unavailable = Math.max(unavailable ?? 0, verdict.retryAfter);
  }
  // A refusal by the stream's own provider is final.
  throw own === undefined && unavailable !== null ? keysUnavailable(unavailable) : unauthorized();
}

/**
 * Returns the providers with the token's issuer and those without an issuer. If none matches, returns the stream's own
 * provider, so that the holder of a token it signed learns what is wrong.
 */
function providersToAsk(
  all: readonly TokenProvider[],
  own: TokenProvider | undefined,
  token: string,
): readonly TokenProvider[] {
  const issuer = issuerIn(token);
  const named = all.filter(({ settings }) => settings.issuer !== null && settings.issuer === issuer);
  const anyones = all.filter(({ settings }) => settings.issuer === null);
  const possible = [...named, ...anyones];
  const first = own !== undefined && (named.length === 0 || possible.includes(own)) ? [own] : [];
  return [...first, ...possible.filter((other) => other !== own)].slice(0, MAX_TRIED);
}

/** Returns the issuer in a token, unverified. */
function issuerIn(token: string): string | null {
  const [, payload = ''] = token.split('.');
  try {
    const claims = parseJson(Buffer.from(payload, 'base64url').toString('utf8'));
    const issuer = isJsonObject(claims) ? claims['iss'] : undefined;
    return typeof issuer === 'string' ? issuer : null;
  } catch {
    return null;
  }
}

function signedButBad(fault: string): CarillonError {
  const detail = `The token is signed by a provider of this workspace and cannot be used: ${fault}. Send a new one.`;
  return new CarillonError('unauthorized', detail, { tokenFault: fault });
}

const keysUnavailable = (retryAfter: Duration): CarillonError =>
  new CarillonError('keys_unavailable', 'The token cannot be verified now. Send the request again later.', {
    retryAfter,
  });

/** Throws `claim_mismatch` if a claim bound by the stream differs from its field of the event. */
export function checkClaims({ security }: EventStream, claims: JsonObject | null, event: JsonObject): void {
  const unmet = claims && security.claims ? unmetBinding(security.claims, claims, event) : null;
  if (!unmet) return;
  const pointer = pointerTo(stepsOf(unmet.path) ?? []);
  const why = {
    no_claim: 'the claim is missing, or neither text nor a whole number',
    no_field: 'the field is missing, or neither text nor a whole number',
    differs: 'they differ',
  }[unmet.why];
  throw new CarillonError(
    'claim_mismatch',
    `The claim ${unmet.claim} of the token must equal ${unmet.path}: ${why}.`,
    pointer === undefined ? {} : { pointer },
  );
}

function providersByWorkspace(configuration: Configuration): ReadonlyMap<string, readonly TokenProvider[]> {
  const known = PROVIDERS.get(configuration);
  if (known) return known;
  const index = Map.groupBy(
    listResources(configuration, 'jwt_provider').map(({ ref, body, number }) => ({
      workspace: ref.workspace,
      name: ref.name,
      number,
      settings: jwtSettings(body),
    })),
    ({ workspace }) => workspace,
  );
  PROVIDERS.set(configuration, index);
  return index;
}
