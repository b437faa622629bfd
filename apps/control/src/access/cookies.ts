import type { FastifyRequest } from 'fastify';

export const isOverTls = (request: FastifyRequest): boolean => request.headers['x-forwarded-proto'] === 'https';

/**
 * Browsers keep the cookies of all ports of a host together: the port in the name keeps two deployments apart. Where a proxy speaks
 * TLS the prefix makes browsers refuse a cookie that another host of the domain, or one without TLS, would plant.
 */
const nameOf = (request: FastifyRequest): string =>
  `${isOverTls(request) ? '__Host-' : ''}carillon_session_${request.socket.localPort ?? 0}`;

/** The word of the session that the browser shows. */
export function sessionWordOf(request: FastifyRequest): string | undefined {
  const wanted = nameOf(request);
  for (const part of (request.headers.cookie ?? '').split(';')) {
    const [name, value] = part.trim().split('=');
    if (name === wanted && value) return value;
  }
  return undefined;
}

/** No script reads it, no other site makes a browser send it, and behind TLS it never travels in clear text. */
export const sessionCookie = (request: FastifyRequest, word: string, seconds: number): string =>
  `${nameOf(request)}=${word}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${seconds}${isOverTls(request) ? '; Secure' : ''}`;
