import type { Clock } from '@carillon/ports';
import type { FastifyRequest } from 'fastify';
import { createRate } from '../rate.ts';
import { isReading } from './origin.ts';
import type { Principal } from './principal.ts';

/**
 * What one person or service token may ask of one control process in a minute. A portal that is looked at asks for a few a second; whoever
 * changes things by hand changes far fewer. The machine's own token is not counted: its files are the operator's.
 */
export const PRINCIPAL_RATES = { requests: 1_200, changes: 300, span: 60_000 } as const;

/** Throws `rate_limited` for whoever asks for more; others are served as before. What is refused counts too. */
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
