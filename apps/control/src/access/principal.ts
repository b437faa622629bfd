import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Permission } from './permission.ts';

/** On whose behalf a request is made. */
export type Principal = {
  /** What proved it. */
  readonly kind: 'owner_token' | 'session';
  /** The author of what is done: in records of the configuration and in the story of a delivery. */
  readonly name: string;
  /** Null: in the whole deployment, not in one workspace. */
  may(permission: Permission, workspace: string | null): boolean;
};

/** Whoever owns the deployment may do everything everywhere. */
export const deploymentOwner = (kind: Principal['kind']): Principal => ({ kind, name: 'owner', may: () => true });

const PRINCIPAL = 'principal';

/** Makes room for the principal in every request. */
export const preparePrincipals = (app: FastifyInstance): void => void app.decorateRequest(PRINCIPAL, null);

export const rememberPrincipal = (request: FastifyRequest, principal: Principal): void =>
  request.setDecorator<Principal | null>(PRINCIPAL, principal);

/** Who asks. Throws where the route is for anybody, so that what it does has no author. */
export function principalOf(request: FastifyRequest): Principal {
  const principal = request.getDecorator<Principal | null>(PRINCIPAL);
  if (!principal) throw new Error(`${request.routeOptions.url} is for anybody: it does nothing in anybody's name`);
  return principal;
}
