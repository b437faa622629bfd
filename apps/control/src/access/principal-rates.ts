import type { Clock } from '@carillon/ports';
import type { FastifyRequest } from 'fastify';
import { createRate } from '../rate.ts';
import { isReading } from './origin.ts';
import type { Principal } from './principal.ts';

/**
 * Requests per minute of one person or service token, per control process. An open portal needs a few per second, and
 * manual changes far fewer. The owner token is exempt, because its file belongs to the operator.
 */
export const PRINCIPAL_RATES = { requests: 1_200, changes: 300, span: 60_000 } as const;

/** Throws `rate_limited` above the limit. Refused requests count too. */
export type PrincipalLimit = (principal: Pick<Principal, 'actor'>, request: Pick<FastifyRequest, 'method'>) => void;

export function limitPrincipals(clock: Pick<Clock, 'now'>): PrincipalLimit {
  const { requests, changes, span } = PRINCIPAL_RATES;
  const all = createRate({ what: 'requests of one person or token', most: requests, span });
  const writing = createRate({ what: 'changes by one person or token', most: changes, span });
  return ({ actor: { kind, id } }, request) => {
    if (kind !== 'person' && kind !== 'token') return;
    all.take(`${kind} ${id}`, clock.now());
    if (!isReading(request)) writing.take(`${kind} ${id}`, clock.now());
  };
}
