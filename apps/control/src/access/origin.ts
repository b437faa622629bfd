import { CarillonError } from '@carillon/kernel';
import type { FastifyRequest } from 'fastify';
import type { Principal } from './principal.ts';

/** What a page of ours says with each write: no form and no plain link can say it. */
export const WRITE_HEADER = 'x-carillon';

/**
 * Whether a page of another origin makes the browser ask. SameSite does not see that: for it, every port of this
 * machine is one site, and a page on any of them could press our buttons. Programs send neither header.
 */
export function isForeign({ headers }: FastifyRequest): boolean {
  const site = headers['sec-fetch-site'];
  if (typeof site === 'string' && site !== 'same-origin' && site !== 'none') return true;
  const { origin } = headers;
  return origin !== undefined && !(URL.canParse(origin) && new URL(origin).host === headers.host);
}

export const isReading = ({ method }: Pick<FastifyRequest, 'method'>): boolean => method === 'GET' || method === 'HEAD';

/** Throws `cross_site` where a browser asks and not a page of ours: a sign-in that somebody else presses is theirs. */
export function refuseForeign(request: FastifyRequest): void {
  if (isForeign(request)) {
    throw new CarillonError('cross_site', 'a page at another address sent this request; use the portal itself');
  }
}

/** Whether a write of a browser in a session comes from a page that is not ours: ours shows itself by a header besides. */
export const isForged = (request: FastifyRequest): boolean =>
  !isReading(request) && (isForeign(request) || request.headers[WRITE_HEADER] !== '1');

/** Throws `cross_site` where a browser in a session is made to write. Programs show a token, which no page can make a browser send. */
export function refuseForgery(request: FastifyRequest, { session }: Pick<Principal, 'session'>): void {
  if (session === undefined || !isForged(request)) return;
  refuseForeign(request);
  throw new CarillonError('cross_site', 'send the header X-Carillon: 1 with every request that changes data');
}
