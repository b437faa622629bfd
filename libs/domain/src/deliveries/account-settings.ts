import { DEFAULT_MAX_SEGMENTS, PROVIDERS, providerOf, type Reporter } from '@carillon/shapes/providers';
import type { AccountBody } from '../configuration/resources.ts';

/** Returns true if an account may send to an address: `allow` of an SMS account lists the prefixes of its numbers. */
export const reaches = (body: AccountBody, address: string | null): boolean =>
  !('allow' in body) || body.allow === undefined || body.allow.some((prefix) => address?.startsWith(prefix) === true);

/** Returns the names of the secrets that sending over an account needs. Other secrets of an account prove reports. */
export const sendingSecrets = (body: AccountBody): readonly string[] =>
  providerOf(body)
    .sendingSecrets(body)
    .map(({ secret }) => secret);

/** Returns how many calls of an account run at the same time, per process. */
export const callsAtOnce = (body: AccountBody): number => providerOf(body).concurrency(body);

/** Returns who reports the fate of an account's messages by HTTP, or null. */
export const reporterOf = (body: AccountBody): Reporter | null => providerOf(body).reporter?.(body) ?? null;

/** Maximum segments of a text for any account, as a protection against unexpected costs. */
export const MAX_SEGMENTS = 10;

/** Returns how many segments a text may have to go over the account. */
export function maxSegments(account: { readonly kind?: string; readonly max_segments?: number }): number {
  const provider = PROVIDERS.find(({ kind }) => kind === account.kind);
  const fallback = provider && 'max_segments' in provider.keys ? DEFAULT_MAX_SEGMENTS : MAX_SEGMENTS;
  return Math.min(account.max_segments ?? fallback, MAX_SEGMENTS);
}

/** Returns the messages per second over all processes, or null without a limit. */
export const rateOf = (body: AccountBody): number | null => ('rate' in body && body.rate ? body.rate.per_second : null);
