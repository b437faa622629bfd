import { CarillonError } from '@carillon/kernel';
import type { FastifyRequest } from 'fastify';

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

export const isReading = ({ method }: FastifyRequest): boolean => method === 'GET' || method === 'HEAD';

/** Throws `cross_site` where a browser asks and not a page of ours: a sign-in that somebody else presses is theirs. */
export function refuseForeign(request: FastifyRequest): void {
  if (isForeign(request)) {
    throw new CarillonError('cross_site', 'a page of another address asked for this; use the portal itself');
  }
}

/** The same of what a browser does in a session, which shows its own page by a header besides. */
export function refuseForgery(request: FastifyRequest): void {
  refuseForeign(request);
  if (request.headers[WRITE_HEADER] !== '1') {
    throw new CarillonError('cross_site', 'send the header X-Carillon: 1 with everything that changes something');
  }
}
