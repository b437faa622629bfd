import type { AttemptId, Instant } from '@carillon/kernel';
import type { Attempt, Delivery, DeliveryState } from './delivery.ts';
import type { DeliverySettings, RetryPolicy } from './intent.ts';
import { reportedMove } from '../receipts/apply-receipt.ts';
import { moveTo, type Moment, type Move } from './moves.ts';
import type { ProviderResult } from './provider-result.ts';

/** Time between probes of an account that rejects calls or is unreachable. */
export const ACCOUNT_PAUSE = 60_000;
/** Result code of an adapter that stopped before it sent the body. */
export const STOPPED = 'stopped';

export type Start = {
  readonly attemptId: AttemptId;
  readonly token: string;
  readonly account: string;
  readonly leaseUntil: Instant;
  /** Time at which it counts under the limits. Defaults to now. */
  readonly startedAt?: Instant;
};

/**
 * Moves WAITING to SENDING with a new token. Undefined if it is no longer waiting or `not_after` has passed since the
 * check.
 */
export function beginAttempt(before: Delivery, start: Start, moment: Moment): Delivery | undefined {
  if (before.state !== 'WAITING' || moment.now > before.notAfter) return undefined;
  const attempt: Attempt = {
    id: start.attemptId,
    token: start.token,
    account: start.account,
    to: before.intent.to,
    startedAt: start.startedAt ?? moment.now,
    endedAt: null,
    result: null,
  };
  return moveTo(
    before,
    { state: 'SENDING', reason: before.reason, detail: `over ${start.account}` },
    {
      token: start.token,
      leaseUntil: start.leaseUntil,
      nextAt: null,
      attempts: [...before.attempts, attempt],
      attemptsUsed: before.attemptsUsed + 1,
      tried: [...before.tried, start.account],
    },
    moment,
  );
}

/** Extends the lease of the current holder. Undefined if the token no longer holds it. */
export function renewLease(before: Delivery, token: string, until: Instant, now: Instant): Delivery | undefined {
  if (before.state !== 'SENDING' || before.token !== token) return undefined;
  return { ...before, leaseUntil: until, version: before.version + 1, updatedAt: now };
}

/** Returns an exponential backoff with full jitter in (0, first·2^(n-1)], capped at `max`. `chance` is in [0, 1). */
export function backoff(retry: RetryPolicy, attemptsUsed: number, chance: number): number {
  const ceiling = Math.min(retry.max, retry.first * 2 ** Math.min(30, Math.max(0, attemptsUsed - 1)));
  return Math.max(1, Math.ceil(ceiling * (1 - chance)));
}

export type Settling = {
  readonly token: string;
  readonly result: ProviderResult;
  readonly settings: DeliverySettings;
  readonly chance: number;
  /** True if an account that was not tried since the last pause can take the message now. */
  readonly anotherAccount: boolean;
};

/**
 * Records the provider's result of the attempt of `token`. A result of the current holder moves SENDING and also
 * IN_DOUBT, because a late definite answer ends the doubt. A result of an older token only counts if it proves
 * acceptance.
 */
export function settleAttempt(before: Delivery, settling: Settling, moment: Moment): Delivery {
  const { token, result } = settling;
  const attempts = before.attempts.map((attempt) =>
    attempt.token === token && attempt.result?.verdict !== 'accepted'
      ? { ...attempt, endedAt: moment.now, result }
      : attempt,
  );
  const recorded = { ...before, attempts };
  const holds = before.token === token && (before.state === 'SENDING' || before.state === 'IN_DOUBT');
  if (!holds) return settleLate(recorded, result, moment);
  return settleHeld(recorded, settling, moment);
}

/** States that a proof of acceptance corrects immediately. SENDING is corrected when its call has ended. */
const OPEN_TO_PROOF: ReadonlySet<DeliveryState> = new Set(['WAITING', 'FAILED', 'EXPIRED', 'IN_DOUBT']);

function settleLate(recorded: Delivery, result: ProviderResult, moment: Moment): Delivery {
  if (result.verdict === 'accepted' && OPEN_TO_PROOF.has(recorded.state)) return proven(recorded, moment);
  return { ...recorded, version: recorded.version + 1, updatedAt: moment.now };
}

const isProven = (delivery: Delivery): boolean =>
  delivery.attempts.some((attempt) => attempt.result?.verdict === 'accepted') || reportedMove(delivery) !== null;

function proven(before: Delivery, moment: Moment): Delivery {
  const detail = 'a late answer proves that an earlier attempt was accepted';
  const move = reportedMove(before) ?? ({ state: 'SENT', reason: 'accepted', detail } as const);
  return moveTo(before, move, ENDED, moment);
}

const ENDED = { token: null, leaseUntil: null, nextAt: null } as const;

function settleHeld(recorded: Delivery, settling: Settling, moment: Moment): Delivery {
  const { result } = settling;
  const detail = result.code === '' ? result.detail : `${result.code} ${result.detail}`.trim();
  // An earlier attempt proved to be accepted during this one. The message is not sent again, whatever this result is.
  if (result.verdict !== 'accepted' && isProven(recorded)) return proven(recorded, moment);
  switch (result.verdict) {
    case 'accepted':
      return moveTo(recorded, acceptedMove(recorded, settling.token, detail), ENDED, moment);
    case 'refused_recipient':
    case 'refused_content':
      return moveTo(recorded, { state: 'FAILED', reason: result.verdict, detail }, ENDED, moment);
    case 'ambiguous':
      if (recorded.state === 'IN_DOUBT') return { ...recorded, version: recorded.version + 1, updatedAt: moment.now };
      return doubt(recorded, 'answer_unknown', detail, settling.settings, moment);
    case 'refused_account':
    case 'throttled':
    case 'transient':
      return settleAgain(recorded, settling, detail, moment);
  }
}

/**
 * A report that arrived before the answer of its own call is more precise than the answer. A report of an earlier call
 * does not apply to this one.
 */
function acceptedMove(recorded: Delivery, token: string, detail: string): Move {
  const attempt = recorded.attempts.findIndex((each) => each.token === token) + 1;
  const reported = reportedMove(recorded, attempt);
  return reported === null || reported.state === 'SENT' ? { state: 'SENT', reason: 'accepted', detail } : reported;
}

function settleAgain(recorded: Delivery, settling: Settling, detail: string, moment: Moment): Delivery {
  const { result, settings, anotherAccount } = settling;
  const verdict = result.verdict as 'refused_account' | 'throttled' | 'transient';
  const stopped = result.code === STOPPED;
  const free = stopped || verdict === 'refused_account';
  const attemptsUsed = recorded.attemptsUsed - (free ? 1 : 0);
  const ended = { token: null, leaseUntil: null, attemptsUsed };
  if (attemptsUsed >= settings.retry.attempts) {
    const usedText = `${settings.retry.attempts} attempts used; the last: ${detail}`;
    return moveTo(
      recorded,
      { state: 'FAILED', reason: 'attempts_used_up', detail: usedText },
      { ...ended, nextAt: null },
      moment,
    );
  }
  const pause = pauseBefore(recorded, settling, moment.now);
  const now = stopped || anotherAccount;
  const nextAt = now ? moment.now : Math.min(pause, recorded.notAfter + 1);
  return moveTo(
    recorded,
    { state: 'WAITING', reason: stopped ? 'stopped_before_sending' : verdict, detail },
    { ...ended, nextAt, tried: stopped ? recorded.tried.slice(0, -1) : anotherAccount ? recorded.tried : [] },
    moment,
  );
}

function pauseBefore(recorded: Delivery, { result, settings, chance }: Settling, now: Instant): Instant {
  if (result.verdict === 'refused_account') return now + ACCOUNT_PAUSE;
  return Math.max(now + backoff(settings.retry, recorded.attemptsUsed, chance), result.retryAt ?? 0);
}

/**
 * Moves a delivery to IN_DOUBT, because acceptance is unknown. It is not sent again automatically unless the
 * notification allows it.
 */
export function doubt(
  before: Delivery,
  reason: 'answer_unknown' | 'lease_ran_out',
  detail: string,
  settings: DeliverySettings,
  moment: Moment,
): Delivery {
  if (isProven(before)) return proven(before, moment);
  const doubted = { clean: false, leaseUntil: null, nextAt: null };
  const usedUp = before.attemptsUsed >= settings.retry.attempts;
  if (settings.inDoubt === 'drop') {
    return moveTo(before, { state: 'FAILED', reason: 'in_doubt_drop', detail }, { ...doubted, token: null }, moment);
  }
  if (settings.inDoubt === 'resend' && !usedUp) {
    const nextAt = Math.min(moment.now + settings.retry.first, before.notAfter + 1);
    const resentText = `${detail}; sent again because the notification sets in_doubt: resend`;
    const move = { state: 'WAITING', reason: 'in_doubt_resend', detail: resentText } as const;
    return moveTo(before, move, { ...doubted, token: null, nextAt, tried: [] }, moment);
  }
  return moveTo(before, { state: 'IN_DOUBT', reason, detail }, doubted, moment);
}

/** Ends SENDING whose lease expired. This is the only move of the sweeper, which never sends. */
export function leaseRanOut(before: Delivery, settings: DeliverySettings, moment: Moment): Delivery | undefined {
  if (before.state !== 'SENDING') return undefined;
  return doubt(before, 'lease_ran_out', 'the sender did not report back', settings, moment);
}
