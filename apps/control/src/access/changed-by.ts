import type { ChangeOrigin, Origin } from '@carillon/domain/configuration';
import type { FastifyRequest } from 'fastify';
import { principalOf, type Principal } from './principal.ts';

/** By what somebody changes something where the operation itself does not say it: a session is the portal's. */
const originOf = ({ kind, actor }: Principal): Origin =>
  kind === 'session' ? 'portal' : actor.kind === 'cli' ? 'cli' : 'api';

/** What the record of a change says about where it came from. `message`: what its author wrote about it. */
export function changedBy(request: FastifyRequest, origin?: Origin, message: string | null = null): ChangeOrigin {
  const principal = principalOf(request);
  return { actor: principal.actor, origin: origin ?? originOf(principal), message, requestId: request.id };
}
