import type { FastifyContextConfig } from 'fastify';
import { z } from 'zod';

const READING: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Returns true if a route accepts an Idempotency-Key: it changes something, for a known caller. */
export function takesKey({
  method,
  config,
}: {
  readonly method?: string | readonly string[] | undefined;
  readonly config?: Pick<FastifyContextConfig, 'audit' | 'permission'> | undefined;
}): boolean {
  const methods = typeof method === 'string' ? [method] : (method ?? []);
  const writes = methods.some((one) => !READING.has(one));
  return writes && typeof config?.audit === 'string' && config.permission !== 'anybody';
}

/** The header of such a route, for the description; it is read before the schemas are. */
export const keyHeader = {
  'idempotency-key': z
    .string()
    .min(1)
    .max(255)
    .optional()
    .describe(
      'Names this request for 24 hours, 1 to 255 visible ASCII characters: repeated with it, the same request is answered as the first time and not carried out again; another one is refused with 422',
    ),
};
/** Refusals that the header brings with it. */
export const KEY_PROBLEMS = ['invalid_idempotency_key', 'idempotency_mismatch', 'request_begun'] as const;
