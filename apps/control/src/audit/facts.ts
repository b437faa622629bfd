import { hash } from 'node:crypto';
import type { AuditAction } from '@carillon/domain/audit';
import type { Actor } from '@carillon/domain/people';
import { stringifyJson, type ErrorCode, type Json } from '@carillon/kernel';
import type { Ids } from '@carillon/ports';
import type { FastifyInstance, FastifyRequest } from 'fastify';

/** Audit facts that only the route knows. Missing facts come from the address. */
export type AuditFacts = {
  /** Author, if this request proved who it is, such as a sign-in. */
  readonly actor?: Actor;
  /** Id or name. Personal names are hashed with a key first, because audit entries cannot be changed later. */
  readonly target?: string;
  readonly workspace?: string;
  /** Digests by `digestOf`, or `keyedDigest` for guessable values such as addresses. None for secrets. */
  readonly before?: string | undefined;
  readonly after?: string | undefined;
  /** Reason given by a person, and scope of the action. Nothing personal. */
  readonly detail?: string;
  /** Code of a refusal that a page shows, or that preceded the action. */
  readonly code?: ErrorCode;
  /** Action, if the route has several. */
  readonly what?: AuditAction;
};

const FACTS = 'auditFacts';

/** Declares the request decorator of the facts. */
export const prepareFacts = (app: FastifyInstance): void => void app.decorateRequest(FACTS, null);

/** Adds audit facts to a request. Facts added before the handler ends are part of the outcome record. */
export function audited(request: FastifyRequest, facts: AuditFacts): void {
  request.setDecorator<AuditFacts | null>(FACTS, { ...factsOf(request), ...facts });
}

export const factsOf = (request: FastifyRequest): AuditFacts => request.getDecorator<AuditFacts | null>(FACTS) ?? {};

/**
 * Returns the digest of guessable values under the deployment's key, so that guesses cannot be compared without the
 * key. Undefined for an empty list.
 */
export const keyedDigest = (ids: Pick<Ids, 'keyed'>, of: readonly Json[]): string | undefined =>
  of.length === 0 ? undefined : ids.keyed('audit digest', stringifyJson([...of]));

/** Returns a stable target for a person without naming them. */
export const keyedTarget = (ids: Pick<Ids, 'keyed'>, ...names: readonly string[]): string =>
  ids.keyed('audit target', ...names);

/** Returns the SHA-256 of a value as JSON, in hexadecimal digits. */
export const digestOf = (value: Json): string => hash('sha256', stringifyJson(value), 'hex');
