import { hash } from 'node:crypto';
import type { AuditAction } from '@carillon/domain/audit';
import type { Actor } from '@carillon/domain/people';
import { stringifyJson, type ErrorCode, type Json } from '@carillon/kernel';
import type { Ids } from '@carillon/ports';
import type { FastifyInstance, FastifyRequest } from 'fastify';

/** What only a route knows about what it did. Left out: what the address says. */
export type AuditFacts = {
  /** Whoever proved to be somebody by this very request, as at a sign-in. */
  readonly actor?: Actor;
  /** An id or a name. What names a person goes through a keyed hash first: nothing on the audit can be taken out again. */
  readonly target?: string;
  readonly workspace?: string;
  /** Digests, by `digestOf`; of what can be guessed, such as an address, by `keyedDigest`; of a secret none. */
  readonly before?: string | undefined;
  readonly after?: string | undefined;
  /** What a person gave as a reason, and what the action covers. Nothing personal. */
  readonly detail?: string;
  /** Code of a refusal that a page tells by itself, or that came before anything began. */
  readonly code?: ErrorCode;
  /** What was done, where one address does several things. */
  readonly what?: AuditAction;
};

const FACTS = 'auditFacts';

/** Makes room for the facts in every request. */
export const prepareFacts = (app: FastifyInstance): void => void app.decorateRequest(FACTS, null);

/** Adds to what the audit tells of this request. What is told before the handler ends is in the record of its outcome. */
export function audited(request: FastifyRequest, facts: AuditFacts): void {
  request.setDecorator<AuditFacts | null>(FACTS, { ...factsOf(request), ...facts });
}

export const factsOf = (request: FastifyRequest): AuditFacts => request.getDecorator<AuditFacts | null>(FACTS) ?? {};

/**
 * The same of what can be guessed, such as an address, under a key of the deployment: only with it can a digest be held against what somebody
 * thinks it is of. Undefined: of nothing.
 */
export const keyedDigest = (ids: Pick<Ids, 'keyed'>, of: readonly Json[]): string | undefined =>
  of.length === 0 ? undefined : ids.keyed('audit digest', stringifyJson([...of]));

/** Whoever an address belongs to, or is named otherwise: the same person has the same target, and it names nobody. */
export const keyedTarget = (ids: Pick<Ids, 'keyed'>, ...names: readonly string[]): string =>
  ids.keyed('audit target', ...names);

/** SHA-256 of a value as JSON, in hexadecimal digits. */
export const digestOf = (value: Json): string => hash('sha256', stringifyJson(value), 'hex');
