import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { principalIfAny, principalOf } from '../principal.ts';
import { EVERY_WORKSPACE, sightIfAny } from '../visible-scope.ts';
import { maskAnswer } from './mask-answer.ts';

const OF = 'answersOf';

/** Sets the workspaces of a response that names none, if the request's address does not. */
export const answersOf = (request: FastifyRequest, workspaces: readonly string[]): void =>
  request.setDecorator<readonly string[] | null>(OF, workspaces);

/** Returns true if the caller gets masked addresses in values without a workspace. */
export function seesMasked(request: FastifyRequest): boolean {
  const principal = principalOf(request);
  const { workspace } = request.params as { readonly workspace?: string };
  const workspaces = request.getDecorator<readonly string[] | null>(OF);
  if (workspaces) return !workspaces.every((each) => principal.may('bodies', each));
  if (workspace !== undefined && workspace !== EVERY_WORKSPACE) return !principal.may('bodies', workspace);
  if (principal.may('bodies', null)) return false;
  const names = sightIfAny(request)?.names ?? [];
  return names.length === 0 || names.some((name) => !principal.may('bodies', name));
}

/**
 * Masks recipient addresses in responses of all routes added later, by their response schemas, for readers without the
 * permission `bodies`. Responses other than JSON require that permission.
 */
export function maskAnswers(app: FastifyInstance): void {
  app.decorateRequest(OF, null);
  app.addHook('preSerialization', async (request, reply, payload) => maskedFor(request, reply.statusCode, payload));
}

/** Returns a response of this status as the caller may see it. */
export function maskedFor(request: FastifyRequest, status: number, payload: unknown): unknown {
  const principal = principalIfAny(request);
  if (!principal || status >= 400) return payload;
  const { response } = (request.routeOptions.schema ?? {}) as {
    readonly response?: Readonly<Record<string, unknown>>;
  };
  const schema = response?.[String(status)];
  // Without a schema it may hold anything.
  const described: z.ZodType = schema instanceof z.ZodType ? schema : z.unknown();
  return maskAnswer(principal, described, payload, seesMasked(request));
}
