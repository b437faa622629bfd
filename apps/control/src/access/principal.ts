import { OWNER_ACTOR, type Actor, type PeopleRecord } from '@carillon/domain/people';
import { CarillonError, type Instant } from '@carillon/kernel';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { rightsOfPerson } from './people/rights.ts';
import type { Permission } from './permission.ts';

/** On whose behalf a request is made. */
export type Principal = {
  /** What proved it. */
  readonly kind: 'owner_token' | 'session' | 'token';
  /** The author of what is done, as records keep it: stable, and without a name or an address of a person. */
  readonly actor: Actor;
  /** The same as one word, for records that hold a text: the story of a delivery. */
  readonly name: string;
  /** Null: in the whole deployment, not in one workspace. */
  may(permission: Permission, workspace: string | null): boolean;
  /** The session, where a session proved it. */
  readonly session?: PeopleRecord<'session'>;
  /** When a service token ends; null: never. */
  readonly expiresAt?: Instant | null;
};

/** Whoever owns the deployment may do everything everywhere. */
export const deploymentOwner = (kind: Principal['kind']): Principal => ({
  kind,
  actor: OWNER_ACTOR,
  name: OWNER_ACTOR.id,
  may: () => true,
});

/** A person in a session, by the roles that they have now. */
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

/** Makes room for the principal in every request. */
export const preparePrincipals = (app: FastifyInstance): void => void app.decorateRequest(PRINCIPAL, null);

export const rememberPrincipal = (request: FastifyRequest, principal: Principal): void =>
  request.setDecorator<Principal | null>(PRINCIPAL, principal);

/** Who asks; null: nobody who is known. */
export const principalIfAny = (request: FastifyRequest): Principal | null =>
  request.getDecorator<Principal | null>(PRINCIPAL);

/** Who asks. Throws where the route is for anybody, so that what it does has no author. */
export function principalOf(request: FastifyRequest): Principal {
  const principal = principalIfAny(request);
  if (!principal) throw new Error(`${request.routeOptions.url} is for anybody: it does nothing in anybody's name`);
  return principal;
}

/** Throws where a service token asks for what a person decides: whoever finds a token could make itself an owner by it. */
export function refuseToken({ kind }: Principal, words: string): void {
  if (kind === 'token') throw new CarillonError('forbidden', words);
}
