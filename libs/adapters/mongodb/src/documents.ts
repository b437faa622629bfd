import type { DeliveryState } from '@carillon/domain/deliveries';
import type { DeadLetterRow, DuplicateRow, EvaluationRow, EventRow, FieldRow, Suppression } from '@carillon/ports';

/**
 * Documents as the database holds them: the fields that are searched by, and beside them the thing itself as JSON text,
 * in which 64-bit integers and any field name survive. A field that puts a document into a queue (`dueAt`, `leaseEnds`,
 * `unpublishedSince`, `nextDue`) is missing in the others, so that the queue's index holds the queue and nothing else.
 */
export type DeliveryDocument = {
  readonly _id: string;
  readonly version: number;
  readonly state: DeliveryState;
  readonly workspace: string;
  readonly notificationId: string;
  readonly channel: string;
  /** Part of the unique index while it is there; may be taken out one day without giving the slot up. */
  readonly uniqueId?: string;
  readonly notification: string;
  readonly eventId: string;
  readonly recipient: string | null;
  readonly reason: string;
  readonly person: string;
  readonly rule: string;
  /** Only in test messages, which are counted nowhere. */
  readonly test?: true;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly dueAt?: number;
  readonly leaseEnds?: number;
  /** Only while COLLECTED, until the delivery is known to be on a list. */
  readonly unlistedAt?: number;
  readonly unpublishedSince?: number;
  /** All but the intent, of which it holds the id. */
  readonly moving?: string;
  /** Written once for each holder of the slot. */
  readonly intent?: string;
  /** The id of the intent that stands in `intent`. */
  readonly intentId?: string;
  /** Body in the format of early versions, in place of `moving`. An early version that finds no body sends nothing. */
  readonly body?: string;
  /** Token of the call that inserted it, and of the one that wrote it last: who reads its own, did it. */
  readonly inserted: string;
  readonly written: string;
};

export type TaskDocument = {
  readonly _id: string;
  /** The queue's key. */
  readonly kind: string;
  readonly workspace: string;
  readonly nextAt: number;
  readonly version: number;
  readonly leaseUntil: number | null;
  readonly done: boolean;
  readonly dueAt?: number;
  readonly deadline?: number;
  /** Only while it is not done. */
  readonly overdueAt?: number;
  readonly endedAt?: number;
  readonly data: string;
  readonly inserted: string;
  readonly written: string;
};

export type ClaimDocument = {
  readonly _id: string;
  readonly position: string;
  readonly superseded: readonly string[];
  readonly at: number;
};

export type CheckpointDocument = {
  readonly _id: string;
  readonly group: string;
  readonly topic: string;
  readonly partition: number;
  readonly logId: string;
  readonly next: number;
  /** The watermark as text, by the name that the field has had since the first release. */
  readonly clocks: string;
  readonly configNumber: number;
};

export type RuleStateDocument = {
  readonly _id: string;
  readonly logId: string;
  readonly partition: number;
  readonly offset: number;
  readonly nextDue?: number;
  readonly forgetAt?: number;
  /** Left out if the entity waits for nothing. */
  readonly waits?: readonly { readonly rule: string; readonly due: number }[];
  readonly data: string;
  /** Left out if no erasure has changed the state. */
  readonly erasures?: number;
};

export type CohortDocument = {
  /** Digest of workspace, integration and cohort: names that others chose may be longer than an index takes. */
  readonly _id: string;
  readonly workspace: string;
  readonly integration: string;
  readonly cohort: string;
  readonly logId: string;
  readonly partition: number;
  readonly offset: number;
  readonly body: string;
};

export type CohortMemberDocument = {
  /** Digest of the cohort and the user. */
  readonly _id: string;
  readonly cohortId: string;
  readonly user: string;
  readonly since: number | null;
  /** When the newest word about them came. One of the two is there, so that each queue's index holds the queue. */
  readonly insideSince?: number;
  readonly outsideSince?: number;
  readonly newestOffset: number;
  readonly offset: number;
};

export type SuppressionDocument = Suppression & { readonly _id: string };
export type IdentityDocument = { readonly _id: string; readonly logId: string; readonly keyFingerprint: string };
export type LeaseDocument = { readonly _id: string; readonly holder: string; readonly until: number };
export type KeyUseDocument = { readonly _id: string; readonly usedAt: number };
export type EventDocument = EventRow & { readonly _id: string };
export type DuplicateDocument = Omit<DuplicateRow, 'id'> & { readonly _id: string };
export type DeadLetterDocument = Omit<DeadLetterRow, 'id'> & { readonly _id: string };
export type EvaluationDocument = EvaluationRow & {
  readonly _id: string;
  readonly hasFailures: boolean;
  readonly writtenAt: number;
};
/** Documents from before changes were read have no tables. */
export type FieldDocument = Omit<FieldRow, 'tables'> & Partial<Pick<FieldRow, 'tables'>> & { readonly _id: string };

/** One key of several parts, in which no two different lists of parts look the same. */
export const keyOf = (...parts: readonly (string | number)[]): string => JSON.stringify(parts);
