import type { Clock } from '@carillon/ports';
import type { FastifyInstance } from 'fastify';
import { createRate } from '../rate.ts';
import { principalIfAny } from './principal.ts';

/**
 * What one person or service token may ask of one control process in a minute. A portal that is looked at asks for a few a second; whoever
 * changes things by hand changes far fewer. The machine's own token is not counted: its files are the operator's.
 */
export const PRINCIPAL_RATES = { requests: 1_200, changes: 300, span: 60_000 } as const;

const READING: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/** Refuses with `rate_limited` whoever asks for more; others are served as before. Behind the guard, which says who asks. */
export function limitPrincipals(app: FastifyInstance, clock: Pick<Clock, 'now'>): void {
  const { requests, changes, span } = PRINCIPAL_RATES;
  const all = createRate({ what: 'requests of one person or token', most: requests, span });
  const writing = createRate({ what: 'changes by one person or token', most: changes, span });
  app.addHook('onRequest', async (request) => {
    const actor = principalIfAny(request)?.actor;
    if (!actor || (actor.kind !== 'person' && actor.kind !== 'token')) return;
    const key = `${actor.kind} ${actor.id}`;
    all.take(key, clock.now());
    if (!READING.has(request.method)) writing.take(key, clock.now());
  });
}
