import { jwtSettings, listResources, type Configuration, type EventStream } from '@carillon/domain/configuration';
import { pointerTo, stepsOf, unmetBinding } from '@carillon/domain/events';
import { CarillonError, isJsonObject, parseJson, type Duration, type JsonObject } from '@carillon/kernel';
import type { TokenProvider, TokenVerifier } from '@carillon/ports';
import { unauthorized } from './unauthorized.ts';

/** A token that is good, with the name of the provider that signed it. */
export type FoundToken = { readonly provider: string; readonly claims: JsonObject };

/** Providers that one token is tried against at most: only where providers name no issuer are there several to try. */
const MAX_TRIED = 3;

const PROVIDERS = new WeakMap<Configuration, ReadonlyMap<string, readonly TokenProvider[]>>();

/** An API key has no dots, a token two. */
export const isToken = (presented: string): boolean => presented.includes('.');

/**
 * The provider of the workspace that signed the token: the stream's own is asked first, the others only so that a good
 * token of the workspace is told 403 or 404 like any other credential. Whom to ask at all is decided by the token's `iss`,
 * before any signature is checked. Throws `unauthorized`, or `keys_unavailable` where nobody can say.
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
  // Where the stream's own provider has said no, that is the answer.
  throw own === undefined && unavailable !== null ? keysUnavailable(unavailable) : unauthorized();
}

/**
 * Whoever names the token's issuer, and those that name none: these may have signed anything. Where nobody names it, the
 * stream's own provider is asked all the same, so that the holder of a token that it did sign is told what is wrong.
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

/** What a token says of its issuer; nobody has checked it. */
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

/** Throws `claim_mismatch` where a claim that the stream binds does not hold the same as its field of the event. */
export function checkClaims({ security }: EventStream, claims: JsonObject | null, event: JsonObject): void {
  const unmet = claims && security.claims ? unmetBinding(security.claims, claims, event) : null;
  if (!unmet) return;
  const pointer = pointerTo(stepsOf(unmet.path) ?? []);
  const why = {
    no_claim: 'the token has no text or whole number there',
    no_field: 'the event has no text or whole number there',
    differs: 'it is another one',
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
