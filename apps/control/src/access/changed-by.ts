import type { ChangeOrigin, Origin } from '@carillon/domain/configuration';
import type { FastifyRequest } from 'fastify';
import { principalOf, type Principal } from './principal.ts';

/** Origin of a change if the operation does not name it. A session belongs to the portal. */
const originOf = ({ kind, actor }: Principal): Origin =>
  kind === 'session' ? 'portal' : actor.kind === 'cli' ? 'cli' : 'api';

/** Returns the origin of a change for its record. `message` is the author's note. */
export function changedBy(request: FastifyRequest, origin?: Origin, message: string | null = null): ChangeOrigin {
  const principal = principalOf(request);
  return { actor: principal.actor, origin: origin ?? originOf(principal), message, requestId: request.id };
}
