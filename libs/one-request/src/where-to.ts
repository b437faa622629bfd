import type { AddressGuard, GuardedAddress } from '@carillon/ports';
import { isIP, type LookupFunction } from 'node:net';
import { getCACertificates } from 'node:tls';

export const NO_WAY =
  'Carillon may not connect to that address; the operator of the deployment can allow private ones.';

/** Ports of `https` at which any public address may be reached (docs/internals/provider-outcomes.md). */
const PORTS: ReadonlySet<string> = new Set(['', '443', '8443']);

/** Without the brackets in which a URL writes an address of IPv6. */
export const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '');
export const isLiteral = (url: URL): boolean => isIP(hostOf(url)) !== 0;

/**
 * Returns the addresses to which a request to a tenant's URL may connect. Null if none is allowed. Plain HTTP and ports
 * other than those of https are allowed only for addresses that the deployment lists.
 */
export async function allowedAddresses(guard: AddressGuard, url: URL): Promise<readonly GuardedAddress[] | null> {
  const judged = await guard.resolve(hostOf(url));
  if (!judged.ok) return null;
  const anywhere = url.protocol === 'https:' && PORTS.has(url.port);
  return anywhere || judged.value.every(({ listed }) => listed) ? judged.value : null;
}

/** Names are resolved by the guard alone, so what was judged is what is connected to. */
export const guardedLookup =
  (guard: AddressGuard, url: URL): LookupFunction =>
  (_host, { all }, done) =>
    void answerLookup(guard, url, all === true, done);

async function answerLookup(
  guard: AddressGuard,
  url: URL,
  all: boolean,
  done: Parameters<LookupFunction>[2],
): Promise<void> {
  const allowed = (await allowedAddresses(guard, url)) ?? [];
  const [first] = allowed;
  if (!first) return done(Object.assign(new Error(NO_WAY), { code: 'ENOTFOUND' }), '', 0);
  return all ? done(null, [...allowed]) : done(null, first.address, first.family);
}

/** Authorities besides those of the machine. */
export const withAuthorities = (trusted: readonly string[]): { readonly ca?: string[] } =>
  trusted.length > 0 ? { ca: [...getCACertificates(), ...trusted] } : {};
