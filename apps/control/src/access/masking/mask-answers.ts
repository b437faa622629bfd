import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { principalIfAny, principalOf } from '../principal.ts';
import { EVERY_WORKSPACE, sightIfAny } from '../visible-scope.ts';
import { maskAnswer } from './mask-answer.ts';

const OF = 'answersOf';

/** Says of whose workspace an answer is that does not say it itself, where the address names none. */
export const answersOf = (request: FastifyRequest, workspaces: readonly string[]): void =>
  request.setDecorator<readonly string[] | null>(OF, workspaces);

/** Whether whoever asks sees the addresses of recipients masked, in what says no workspace of its own. */
export function seesMasked(request: FastifyRequest): boolean {
  const principal = principalOf(request);
  const { workspace } = request.params as { readonly workspace?: string };
  const said = request.getDecorator<readonly string[] | null>(OF);
  if (said) return !said.every((one) => principal.may('bodies', one));
  if (workspace !== undefined && workspace !== EVERY_WORKSPACE) return !principal.may('bodies', workspace);
  if (principal.may('bodies', null)) return false;
  const names = sightIfAny(request)?.names ?? [];
  return names.length === 0 || names.some((one) => !principal.may('bodies', one));
}

/**
 * Masks the answers of all routes that are added after this, by the schemas of their answers: addresses of recipients, for whoever has no
 * permission `bodies` where they belong. Answers that are not JSON need the permission themselves.
 */
export function maskAnswers(app: FastifyInstance): void {
  app.decorateRequest(OF, null);
  app.addHook('preSerialization', async (request, reply, payload) => maskedFor(request, reply.statusCode, payload));
}

/** An answer of this status as whoever asks may see it now. */
export function maskedFor(request: FastifyRequest, status: number, payload: unknown): unknown {
  const principal = principalIfAny(request);
  if (!principal || status >= 400) return payload;
  const { response } = (request.routeOptions.schema ?? {}) as {
    readonly response?: Readonly<Record<string, unknown>>;
  };
  const schema = response?.[String(status)];
  // Without a description it may hold anything.
  const described: z.ZodType = schema instanceof z.ZodType ? schema : z.unknown();
  return maskAnswer(principal, described, payload, seesMasked(request));
}
