import type { Instant } from '@carillon/kernel';
import type { Actor } from '../people/actor.ts';
import type { AuditAction } from './actions.ts';

/**
 * `begun`: precedes an action; without a later record of the same id, the outcome is unknown. `refused`: the request
 * was refused and changed nothing. `failed`: a server error, and part of the action may be done.
 */
export const AUDIT_OUTCOMES = ['begun', 'done', 'refused', 'failed'] as const;
export type AuditOutcome = (typeof AUDIT_OUTCOMES)[number];

/** Origin of a request, if known. Both texts are bounded. */
export type AuditSource = { readonly address: string | null; readonly userAgent: string | null };

/** The action. */
export type AuditEntry = {
  readonly kind: 'entry';
  /** Id shared by the record before an action and the record of its outcome. */
  readonly id: string;
  readonly at: Instant;
  /** Null if the caller was unknown, as in a refused sign-in. */
  readonly actor: Actor | null;
  /** A word that this version may not know: a newer one wrote it. */
  readonly what: AuditAction | (string & {});
  /** Id or name of what it was done to; never an address of a person. */
  readonly target: string | null;
  /** Null: the deployment, or several. */
  readonly workspace: string | null;
  readonly from: AuditSource;
  readonly requestId: string | null;
  /** Number of the configuration that it made. */
  readonly number: number | null;
  /** Digests of the state before and after. Null if not recorded or absent. */
  readonly before: string | null;
  readonly after: string | null;
  /** Reason that a person gave, and the span that the action covers. Null if no reason was given. */
  readonly detail: string | null;
  readonly outcome: AuditOutcome;
  /** Code of the problem that was answered; null: none was. */
  readonly code: string | null;
};

/** A signed hash over all audit records up to a position. It proves that these records were not changed. */
export type AuditSeal = {
  /** First position that `leaves` tells of. */
  readonly since: number;
  /** Last position that it holds. */
  readonly through: number;
  /** Hash of the chain at `through`: 64 hexadecimal digits. */
  readonly hash: string;
  /** Over the log and all that the seal says, under a key of the deployment. */
  readonly mac: string;
  /** Every record of the configuration below this number is told of. */
  readonly configuration: number;
  /** A short digest, 16 hexadecimal digits, of each record from `since` to `through`, to find a changed record. */
  readonly leaves: readonly string[];
};

/** A record of `carillon.audit`. */
export type AuditRecord =
  | AuditEntry
  | { readonly kind: 'seal'; readonly id: string; readonly at: Instant; readonly seal: AuditSeal };
