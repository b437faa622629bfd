import { err, ok, type Result } from '@carillon/kernel';
import type { Delivery, DeliveryState } from './delivery.ts';
import { moveTo, type Moment } from './moves.ts';

/** Decisions of operators, with the states in which each is allowed. */
export const DECISION_STATES = {
  resend: ['FAILED', 'EXPIRED', 'CANCELLED', 'IN_DOUBT'],
  cancel: ['WAITING', 'COLLECTED'],
  dismiss: ['IN_DOUBT'],
} as const satisfies Record<string, readonly DeliveryState[]>;
export type OperatorDecision = keyof typeof DECISION_STATES;

const RESENDABLE: ReadonlySet<DeliveryState> = new Set(DECISION_STATES.resend);
const REASONS = { resend: 'operator_resend', cancel: 'operator_cancel', dismiss: 'operator_dismiss' } as const;

/**
 * Returns true if the history has this decision by this author. `by` also names a job, so that each job decides once.
 */
export const wasDecided = ({ history }: Delivery, decision: OperatorDecision, by: string): boolean =>
  history.some(
    ({ reason, detail }) => reason === REASONS[decision] && (detail === `by ${by}` || detail.startsWith(`by ${by}: `)),
  );

/**
 * Sends a delivery again on behalf of an operator: sets a new `not_after`, resets the attempts, and records author and
 * reason. The items of a digest are checked before it goes, because another intent may have taken over an item's slot.
 */
export function operatorResend(
  before: Delivery,
  expires: number,
  by: string,
  moment: Moment,
): Result<Delivery, string> {
  if (!RESENDABLE.has(before.state)) {
    return err(`only FAILED, EXPIRED, CANCELLED and IN_DOUBT can be sent again; this is ${before.state}`);
  }
  if (before.intent.to === null) return err('it has no address to send to');
  const { digest } = before.intent;
  return ok(
    moveTo(
      before,
      { state: 'WAITING', reason: 'operator_resend', detail: `by ${by}` },
      {
        nextAt: moment.now,
        notAfter: moment.now + expires,
        attemptsUsed: 0,
        tried: [],
        token: null,
        leaseUntil: null,
        ...(digest && { intent: { ...before.intent, digest: { ...digest, recheck: true } } }),
      },
      moment,
    ),
  );
}

export function operatorCancel(before: Delivery, by: string, moment: Moment): Result<Delivery, string> {
  if (before.state !== 'WAITING' && before.state !== 'COLLECTED') {
    return err(`only WAITING and COLLECTED can be cancelled; this is ${before.state}`);
  }
  const move = { state: 'CANCELLED', reason: 'operator_cancel', detail: `by ${by}` } as const;
  return ok(moveTo(before, move, { nextAt: null }, moment));
}

/** Ends a doubt with the operator's knowledge. The slot stays taken, because `clean` never becomes true again. */
export function operatorDismiss(
  before: Delivery,
  as: 'failed' | 'sent',
  why: string,
  by: string,
  moment: Moment,
): Result<Delivery, string> {
  if (before.state !== 'IN_DOUBT') return err(`only IN_DOUBT can be dismissed; this is ${before.state}`);
  const state = as === 'sent' ? 'SENT' : 'FAILED';
  const move = { state, reason: 'operator_dismiss', detail: `by ${by}: ${why}` } as const;
  return ok(moveTo(before, move, { token: null, nextAt: null }, moment));
}
