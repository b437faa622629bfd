import type { FastifyRequest } from 'fastify';

/** A year, without subdomains: other hosts of the domain may not speak TLS. */
export const HSTS = { 'strict-transport-security': 'max-age=31536000' } as const;

/**
 * Returns true if the client's connection used TLS. Reads `X-Forwarded-Proto` only from an address in the server's
 * `trustedProxies`; anybody else could claim anything there.
 */
export const isOverTls = (request: FastifyRequest): boolean => request.protocol === 'https';
