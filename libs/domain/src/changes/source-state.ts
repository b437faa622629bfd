/** Why a table of a source is not read. */
export const TABLE_REASONS = ['no_table', 'is_view', 'is_partition', 'no_identity', 'not_published'] as const;
export type TableReason = (typeof TABLE_REASONS)[number];

/** Why a source waits. Carillon retries until the cause ends. */
export const WAITING_REASONS = [
  'unreachable',
  'refused_login',
  'refused_address',
  'refused_certificate',
  'pooler',
  'standby',
  'not_logical',
  'may_not_replicate',
  'may_not_publish',
  'no_slot_free',
  'making_slot',
  'in_use',
  'log_full',
  'carillon_failed',
] as const;
export type WaitingReason = (typeof WAITING_REASONS)[number];

/** Why a source is stopped. It does not resume until a person resets it, because changes may be missing. */
export const STOPPED_REASONS = [
  'slot_lost',
  'slot_gone',
  'publication_gone',
  'slot_ahead',
  'other_database',
  'went_back',
] as const;
export type StoppedReason = (typeof STOPPED_REASONS)[number];

/** What is wrong with a source, with what a person can do about it. */
export type SourceProblem<Reason extends string> = {
  readonly reason: Reason;
  /** What the server said or what was found, in a sentence without secrets. Null if the reason says it all. */
  readonly detail: string | null;
  /** SQL or configuration line that ends it, to be copied. Null if there is none. */
  readonly fix: string | null;
};

export type SourceState =
  | { readonly kind: 'running' }
  | ({ readonly kind: 'waiting' } & SourceProblem<WaitingReason>)
  | ({ readonly kind: 'stopped' } & SourceProblem<StoppedReason>)
  /** Its integration was removed. `fix` drops slot and publication by hand. */
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
