import type { Duration, Instant } from '@carillon/kernel';
import { backoff } from '../deliveries/attempts.ts';
import type { Lookup } from './lookup.ts';
import type { Trigger } from './trigger.ts';

/** Result of one call, stored as evidence for people. */
export type CallEvidence = {
  readonly at: Instant;
  readonly callId: string;
  readonly outcome: 'answered' | 'invalid' | 'refused' | 'unauthorized' | 'throttled' | 'unavailable' | 'no_room';
  readonly status: number | null;
  readonly detail: string;
  readonly took: Duration;
  /** Triggers that shared the call. */
  readonly sharedBy: number;
};

/** Why nobody asks any more. */
export type ParkReason = 'partner_refused' | 'partner_answer_invalid' | 'not_after_passed';

/** Final result of a trigger. It is stored here before it is on the log, so that no answer is requested twice. */
export type Verdict =
  | { readonly kind: 'answered'; readonly lookup: Lookup }
  | { readonly kind: 'parked'; readonly reason: ParkReason; readonly detail: string };

/** A trigger in custody: from its record to a lookup record or a dead letter. */
export type Asking = {
  /** Null when it is done: the log has it. */
  readonly trigger: Trigger | null;
  /** Append time of its record. Missing in tasks that an earlier release stored. */
  readonly takenAt?: Instant;
  /** Where its record stands. */
  readonly origin: { readonly partition: number; readonly offset: number; readonly key: string };
  readonly calls: number;
  /** Calls that ended in a way that no repetition is likely to mend. */
  readonly refusals: number;
  /** True if the trigger no longer shares calls, because a shared answer could not be attributed, or was refused. */
  readonly alone: boolean;
  /** The newest ones. */
  readonly evidence: readonly CallEvidence[];
  /** Verdict that has to be appended to the log. Null before there is one, and once it is on the log. */
  readonly verdict: Verdict | null;
  /** How it ended, once that is on the log. */
  readonly ended: {
    readonly kind: Verdict['kind'];
    readonly reason: string;
    readonly deadLetterId: string | null;
  } | null;
  /** Redrives that were taken up: each opens it once. */
  readonly redrives: readonly string[];
  /** Dead letters that it was opened from again, oldest first; left out where there are none. */
  readonly letters?: readonly string[];
};

const KEPT_EVIDENCE = 8;
/** Other 4xx and bodies that cannot be used are tried this often. */
const REFUSALS = 2;
const BACKOFF = { attempts: Number.MAX_SAFE_INTEGER, first: 1_000, max: 300_000 };
/** A partner that wants more patience is asked again after this. */
export const MAX_RETRY_AFTER: Duration = 600_000;

export const newAsking = (trigger: Trigger, origin: Asking['origin'], redrives: readonly string[] = []): Asking => ({
  trigger,
  origin,
  calls: 0,
  refusals: 0,
  alone: false,
  evidence: [],
  verdict: null,
  ended: null,
  redrives,
});

/**
 * Returns how long a trigger was of use when it was asked first. The event of a sending job may be days older than its trigger, so the
 * time of such a trigger counts from its own record.
 */
export const usefulFor = ({ notAfter, causedAt, sentBy }: Trigger, takenAt: Instant): Duration =>
  notAfter - (sentBy ? takenAt : causedAt);

/** A call to a partner that brought no usable answer. */
export type FailedCall = {
  readonly evidence: CallEvidence & { readonly outcome: Exclude<CallEvidence['outcome'], 'answered'> };
  readonly retryAfter: Duration | null;
  /** True if the partner refuses every call now, so that asking for each person alone would not help. */
  readonly toEverybody: boolean;
};

/** Returns the next state of a trigger after a call without result, with the time of the next call. */
export function afterFailure(
  before: Asking,
  { evidence, retryAfter, toEverybody }: FailedCall,
  chance: number,
): { readonly asking: Asking; readonly nextAt: Instant } {
  const calls = before.calls + 1;
  const told = { ...before, calls, evidence: [...before.evidence, evidence].slice(-KEPT_EVIDENCE) };
  const now = evidence.at + evidence.took;
  const later = now + backoff(BACKOFF, calls, chance);
  switch (evidence.outcome) {
    case 'throttled':
      return { asking: told, nextAt: Math.max(later, now + Math.min(retryAfter ?? 0, MAX_RETRY_AFTER)) };
    case 'unavailable':
    case 'no_room':
    case 'unauthorized':
      return { asking: told, nextAt: later };
    case 'invalid':
    case 'refused': {
      // A shared call asks for several people at once. One bad id must not fail the others, so each is asked for alone
      // before a refusal counts.
      if (evidence.sharedBy > 1 && !toEverybody) return { asking: { ...told, alone: true }, nextAt: now };
      const refusals = before.refusals + 1;
      const reason = evidence.outcome === 'refused' ? 'partner_refused' : 'partner_answer_invalid';
      const verdict = refusals < REFUSALS ? null : parked(reason, evidence.detail);
      return { asking: { ...told, refusals, verdict }, nextAt: verdict ? now : later };
    }
  }
}

const parked = (reason: ParkReason, detail: string): Verdict => ({ kind: 'parked', reason, detail });

/** Returns the state of a trigger whose part of a shared answer is unclear: it asks again, alone. */
export const askAlone = (before: Asking, evidence: CallEvidence): Asking => ({
  ...before,
  calls: before.calls + 1,
  alone: true,
  evidence: [...before.evidence, evidence].slice(-KEPT_EVIDENCE),
});

export const afterAnswer = (before: Asking, lookup: Lookup, evidence: CallEvidence): Asking => ({
  ...before,
  calls: before.calls + 1,
  evidence: [...before.evidence, evidence].slice(-KEPT_EVIDENCE),
  verdict: { kind: 'answered', lookup },
});

/** Too late: an answer would be of no use any more. */
export function afterDeadline(before: Asking): Asking {
  const last = before.evidence.at(-1);
  const detail = last ? `not answered in time; last: ${last.detail}` : 'no call was possible in time';
  return { ...before, verdict: parked('not_after_passed', detail) };
}

/**
 * Returns the record of a call after its outcome is on the log. Trigger and verdict are removed, and only what people
 * may query remains.
 */
export function afterPublishing(before: Asking, deadLetterId: string | null): Asking {
  const { verdict } = before;
  if (!verdict) return before;
  const reason = verdict.kind === 'parked' ? `${verdict.reason}: ${verdict.detail}` : '';
  return { ...before, trigger: null, verdict: null, ended: { kind: verdict.kind, reason, deadLetterId } };
}
