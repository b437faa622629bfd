import { OWNER_ACTOR, type Actor, type PeopleRecord } from '@carillon/domain/people';
import { CarillonError, type Instant } from '@carillon/kernel';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { rightsOfPerson } from './people/rights.ts';
import type { Permission } from './permission.ts';

/** Author of a request. */
export type Principal = {
  /** Type of the credential. */
  readonly kind: 'owner_token' | 'session' | 'token';
  /** Author in records: stable, without name or address of a person. */
  readonly actor: Actor;
  /** Author as one text, for records such as a delivery's history. */
  readonly name: string;
  /** Checks a permission. A null workspace means the whole deployment. */
  may(permission: Permission, workspace: string | null): boolean;
  /** Session of the request, if any. */
  readonly session?: PeopleRecord<'session'>;
  /** Expiry of a service token. Null: never. */
  readonly expiresAt?: Instant | null;
};

/** Returns a principal with all permissions everywhere. */
export const deploymentOwner = (kind: Principal['kind']): Principal => ({
  kind,
  actor: OWNER_ACTOR,
  name: OWNER_ACTOR.id,
  may: () => true,
});

/** Returns the principal of a person with their current roles. */
export const personPrincipal = (
  { id, body }: PeopleRecord<'person'>,
  isOwner: boolean,
  session: PeopleRecord<'session'>,
): Principal => ({
  kind: 'session',
  actor: { kind: 'person', id },
  name: id,
  session,
  may: rightsOfPerson(body.memberships, isOwner),
});

const PRINCIPAL = 'principal';

/** Declares the request decorator of the principal. */
export const preparePrincipals = (app: FastifyInstance): void => void app.decorateRequest(PRINCIPAL, null);

export const rememberPrincipal = (request: FastifyRequest, principal: Principal): void =>
  request.setDecorator<Principal | null>(PRINCIPAL, principal);

/** Returns the principal, or null for an anonymous request. */
export const principalIfAny = (request: FastifyRequest): Principal | null =>
  request.getDecorator<Principal | null>(PRINCIPAL);

/** Returns the principal. Throws on routes without authentication, whose actions would have no author. */
export function principalOf(request: FastifyRequest): Principal {
  const principal = principalIfAny(request);
  if (!principal) throw new Error(`${request.routeOptions.url} is for anybody: it does nothing in anybody's name`);
  return principal;
}

/**
 * Throws for a service token on actions that only a person may take; otherwise a leaked token could make its holder an
 * owner.
 */
export function refuseToken({ kind }: Principal, detail: string): void {
  if (kind === 'token') throw new CarillonError('forbidden', detail);
}
