import { isOverTls } from '@carillon/runtime';
import type { FastifyRequest } from 'fastify';

/**
 * Returns the name of a cookie. It holds the port, because browsers share cookies between the ports of a host. If a trusted
 * proxy speaks TLS, the prefix `__Host-` makes browsers refuse a cookie that another host or a page without TLS sets.
 */
const nameOf = (request: FastifyRequest, what: 'session' | 'sign_in' = 'session'): string =>
  `${isOverTls(request) ? '__Host-' : ''}carillon_${what}_${request.socket.localPort ?? 0}`;

/** The word of the session that the browser shows. */
export const sessionWordOf = (request: FastifyRequest): string | undefined => cookieOf(request, nameOf(request));

function cookieOf(request: FastifyRequest, wanted: string): string | undefined {
  for (const part of (request.headers.cookie ?? '').split(';')) {
    const [name, value] = part.trim().split('=');
    if (name === wanted && value) return value;
  }
  return undefined;
}

/** No script reads it, no other site makes a browser send it, and behind TLS it never travels in clear text. */
export const sessionCookie = (request: FastifyRequest, word: string, seconds: number): string =>
  `${nameOf(request)}=${word}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${seconds}${isOverTls(request) ? '; Secure' : ''}`;

/** What this browser began at an identity provider, sealed. */
export const begunSignInOf = (request: FastifyRequest): string | undefined =>
  cookieOf(request, nameOf(request, 'sign_in'));

/** A browser that comes back from the provider comes from another site: with Strict it would not send this. */
export const begunSignInCookie = (request: FastifyRequest, sealed: string, seconds: number): string =>
  `${nameOf(request, 'sign_in')}=${sealed}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${seconds}${isOverTls(request) ? '; Secure' : ''}`;
