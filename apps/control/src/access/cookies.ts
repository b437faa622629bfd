import { isOverTls } from '@carillon/runtime';
import type { FastifyRequest } from 'fastify';

/**
 * Returns the name of a cookie. It holds the port, because browsers share cookies between the ports of a host. If a trusted
 * proxy speaks TLS, the prefix `__Host-` makes browsers refuse a cookie that another host or a page without TLS sets.
 */
const nameOf = (request: FastifyRequest, what: 'session' | 'sign_in' = 'session'): string =>
  `${isOverTls(request) ? '__Host-' : ''}carillon_${what}_${request.socket.localPort ?? 0}`;

/** Returns the session token in the browser's cookie. */
export const sessionWordOf = (request: FastifyRequest): string | undefined => cookieOf(request, nameOf(request));

function cookieOf(request: FastifyRequest, wanted: string): string | undefined {
  for (const part of (request.headers.cookie ?? '').split(';')) {
    const [name, value] = part.trim().split('=');
    if (name === wanted && value) return value;
  }
  return undefined;
}

/** Scripts cannot read it, other sites cannot make a browser send it, and with TLS it is never sent in clear text. */
export const sessionCookie = (request: FastifyRequest, token: string, seconds: number): string =>
  `${nameOf(request)}=${token}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${seconds}${isOverTls(request) ? '; Secure' : ''}`;

/** Returns the encrypted state of a sign-in that this browser started at an identity provider. */
export const begunSignInOf = (request: FastifyRequest): string | undefined =>
  cookieOf(request, nameOf(request, 'sign_in'));

/**
 * Uses SameSite=Lax, because the redirect from the provider comes from another site and Strict would omit the cookie.
 */
export const begunSignInCookie = (request: FastifyRequest, sealed: string, seconds: number): string =>
  `${nameOf(request, 'sign_in')}=${sealed}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${seconds}${isOverTls(request) ? '; Secure' : ''}`;
