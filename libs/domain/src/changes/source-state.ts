import type { Instant } from '@carillon/kernel';
import type { SourceKind } from './source-position.ts';

/**
 * Reasons by kind of source. `table`: why a table or topic is not read. `waiting`: why the source waits; Carillon retries until the
 * cause ends. `stopped`: why it does not resume until a person resets it, because changes may be missing.
 */
export const SOURCE_REASONS = {
  postgres: {
    table: ['no_table', 'is_view', 'is_partition', 'no_identity', 'not_published'],
    waiting: [
      'unreachable',
      'wrong_url',
      'refused_login',
      'refused_address',
      'refused_certificate',
      'pooler',
      'standby',
      'not_logical',
      'may_not_replicate',
      'may_not_publish',
      'publication_changed',
      'no_slot_free',
      'making_slot',
      'in_use',
      'log_full',
      'carillon_failed',
    ],
    stopped: ['slot_lost', 'slot_gone', 'publication_gone', 'slot_ahead', 'other_database', 'went_back'],
  },
  kafka: {
    table: ['no_topic', 'may_not_read', 'no_leader'],
    waiting: [
      'unreachable',
      'refused_login',
      'refused_address',
      'refused_certificate',
      'too_old',
      'registry_away',
      'schema_unknown',
      'log_full',
      'carillon_failed',
    ],
    stopped: ['other_database', 'topic_made_again', 'records_gone', 'went_back'],
  },
} as const satisfies Record<SourceKind, unknown>;

/** A span in which a table was not read. `to` is null while that lasts. */
export type TableGap = { readonly from: Instant; readonly to: Instant | null };

type ReasonOf<Level extends 'table' | 'waiting' | 'stopped'> = (typeof SOURCE_REASONS)[SourceKind][Level][number];

/** Why a table or topic of a source is not read. */
export type TableReason = ReasonOf<'table'>;
export type WaitingReason = ReasonOf<'waiting'>;
export type StoppedReason = ReasonOf<'stopped'>;

/** A problem of a source, and what a person can do about it. */
export type SourceProblem<Reason extends string> = {
  readonly reason: Reason;
  /** Message of the server or finding, as a sentence without secrets. Null if the reason is enough. */
  readonly detail: string | null;
  /** SQL, command or configuration line that ends it, to be copied. Null if there is none. */
  readonly fix: string | null;
};

/** Why a source waits. `topic` lacks the schema of a record; a reset may pass over it. Absent: the whole source waits. */
export type WaitingProblem = SourceProblem<WaitingReason> & { readonly topic?: string };

export type SourceState =
  | { readonly kind: 'running' }
  | ({ readonly kind: 'waiting' } & WaitingProblem)
  | ({ readonly kind: 'stopped' } & SourceProblem<StoppedReason>)
  /** Its integration was removed or has another kind. `fix` drops slot and publication by hand. */
  | {
      readonly kind: 'leaving';
      readonly detail: string | null;
      readonly fix: string | null;
      /** Why it was stopped before, so that it is stopped again if its integration comes back. Absent: it was not. */
      readonly stopped?: StoppedReason;
    };

/** Returns why changes may be missing, also if the source leaves meanwhile. Null if none are. */
export function stoppedReasonOf(state: SourceState): StoppedReason | null {
  if (state.kind === 'stopped') return state.reason;
  return state.kind === 'leaving' ? (state.stopped ?? null) : null;
}
