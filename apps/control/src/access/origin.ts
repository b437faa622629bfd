import { CarillonError } from '@carillon/kernel';
import type { FastifyRequest } from 'fastify';
import type { Principal } from './principal.ts';

/** Header that our pages send with each write. Forms and links cannot set it. */
export const WRITE_HEADER = 'x-carillon';

/**
 * Returns true if a page of another origin made the browser send the request. SameSite is not enough: it treats all
 * ports of a host as one site. Programs send neither header.
 */
export function isForeign({ headers }: FastifyRequest): boolean {
  const site = headers['sec-fetch-site'];
  if (typeof site === 'string' && site !== 'same-origin' && site !== 'none') return true;
  const { origin } = headers;
  return origin !== undefined && !(URL.canParse(origin) && new URL(origin).host === headers.host);
}

export const isReading = ({ method }: Pick<FastifyRequest, 'method'>): boolean => method === 'GET' || method === 'HEAD';

/** Throws `cross_site` for a browser request from another origin, so that another page cannot start a sign-in. */
export function refuseForeign(request: FastifyRequest): void {
  if (isForeign(request)) {
    throw new CarillonError('cross_site', 'a page at another address sent this request; use the portal itself');
  }
}

/** Returns true for a browser's write from another origin or without our header. */
export const isForged = (request: FastifyRequest): boolean =>
  !isReading(request) && (isForeign(request) || request.headers[WRITE_HEADER] !== '1');

/**
 * Throws `cross_site` for a forged write in a browser session. Requests with a token pass, because no page can make a
 * browser send one.
 */
export function refuseForgery(request: FastifyRequest, { session }: Pick<Principal, 'session'>): void {
  if (session === undefined || !isForged(request)) return;
  refuseForeign(request);
  throw new CarillonError('cross_site', 'send the header X-Carillon: 1 with every request that changes data');
}
