import type { SourceProblem, StoppedReason, WaitingReason } from '@carillon/domain/changes';

export type WaitingProblem = SourceProblem<WaitingReason>;
export type Failure =
  | ({ readonly kind: 'waiting' } & WaitingProblem)
  | ({ readonly kind: 'stopped' } & SourceProblem<StoppedReason>);

/** Ends a reader or a request with a state of the source. Its message holds no secret. */
export class SourceFailure extends Error {
  readonly failure: Failure;
  constructor(failure: Failure) {
    super(failure.detail ?? failure.reason);
    this.failure = failure;
  }
}

export const waiting = (
  reason: WaitingReason,
  detail: string | null = null,
  fix: string | null = null,
): SourceFailure => new SourceFailure({ kind: 'waiting', reason, detail, fix });

export const stopped = (reason: StoppedReason, detail: string | null = null): SourceFailure =>
  new SourceFailure({ kind: 'stopped', reason, detail, fix: null });

/** Returns the waiting state of an error of a connection. An error of another kind is thrown again. */
export function waitingProblem(error: unknown): WaitingProblem {
  if (!(error instanceof SourceFailure) || error.failure.kind !== 'waiting') throw error;
  const { reason, detail, fix } = error.failure;
  return { reason, detail, fix };
}
