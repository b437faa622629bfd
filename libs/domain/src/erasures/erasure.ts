import type { Duration, Instant, JobId } from '@carillon/kernel';
import type { Actor } from '../people/actor.ts';
import type { ErasureSubject } from './subject.ts';

/** Where an erasure looks, as its certificate names it. */
export const ERASURE_PLACES = [
  'log_records',
  'deliveries',
  'limits',
  'rule_states',
  'lookup_tasks',
  'suppressions',
  'opt_outs',
  'inbox',
  'field_samples',
  'rule_errors',
  'dead_letters',
  'cohort_members',
  'job_items',
] as const;
export type ErasurePlace = (typeof ERASURE_PLACES)[number];
export type ErasureCounts = Readonly<Partial<Record<ErasurePlace, number>>>;

/** How long the response of a repeated request is kept, sealed. It may hold what the request was about. */
export const SEALED_RESPONSES_KEPT: Duration = 24 * 3_600_000;

/** An erasure: the request until it is carried out, its certificate afterwards. It is kept as long as the deployment. */
export type Erasure = ErasureSubject & {
  readonly id: string;
  readonly job: JobId;
  readonly reason: string;
  readonly by: Actor;
  readonly byName: string;
  readonly requestedAt: Instant;
  /** Null until everything is emptied. */
  readonly erasedAt: Instant | null;
  /** What was emptied. */
  readonly erased: ErasureCounts;
  /** When retention has removed the last byte from a log whose records cannot be overwritten. Left out if they were overwritten. */
  readonly bytesUntil?: Instant;
  /** Counts the writes. */
  readonly version: number;
};
