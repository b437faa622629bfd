import type { Delivery, DeliveryState } from '../deliveries/delivery.ts';
import { moveTo, type Moment, type Move } from '../deliveries/moves.ts';
import type { ProviderVerdict } from '../deliveries/provider-result.ts';
import { attemptTag } from './receipt-token.ts';
import type { AppliedReceipt, Receipt } from './receipt.ts';
import type { ReportedSuppression, ReportVerdict } from './report.ts';

/** Returns a document from before there were receipts in the current form. */
export const withReceipts = (stored: Delivery): Delivery =>
  'receipts' in stored
    ? stored
    : {
        ...(stored as Omit<Delivery, 'receipts'>),
        receipts: [],
        attempts: (stored as Delivery).attempts.map((attempt) => ({ ...attempt, to: (stored as Delivery).intent.to })),
      };

/** A delivery keeps this many; the log has the rest. */
export const RECEIPTS_KEPT = 32;

const REPORTED: Readonly<Record<ReportVerdict, Pick<Move, 'state' | 'reason'>>> = {
  note: { state: 'SENT', reason: 'evidence' },
  delivered: { state: 'DELIVERED', reason: 'delivered' },
  bounced: { state: 'BOUNCED', reason: 'bounced' },
  complained: { state: 'COMPLAINED', reason: 'complained' },
};

/** Receipts only ever lift a delivery in this order; what is not here has not been accepted, as far as we know. */
const RANK: Readonly<Partial<Record<DeliveryState, number>>> = { SENT: 1, DELIVERED: 2, BOUNCED: 3, COMPLAINED: 4 };
const rankOf = (state: DeliveryState): number => RANK[state] ?? 0;

/** States that a receipt moves at once. SENDING moves when its own call has ended; the others are somebody's decision. */
const OPEN_TO_RECEIPTS: ReadonlySet<DeliveryState> = new Set([
  'WAITING',
  'FAILED',
  'EXPIRED',
  'IN_DOUBT',
  'SENT',
  'DELIVERED',
  'BOUNCED',
]);

/** After such an answer the provider has nothing to report on: a receipt about that attempt proves nothing. */
const NOT_ACCEPTED: ReadonlySet<ProviderVerdict> = new Set([
  'refused_recipient',
  'refused_content',
  'refused_account',
  'throttled',
  'transient',
]);

/**
 * Returns the highest state that a delivery's receipts prove, with the detail of that receipt. Null if none proves
 * acceptance. `onlyAttempt` limits it to one attempt, counted from 1. Receipts of attempts before an accepted one are
 * ignored: those were in doubt, and the later attempt decides.
 */
export function reportedMove(delivery: Delivery, onlyAttempt?: number): Move | null {
  const accepted = delivery.attempts.findLastIndex(({ result }) => result?.verdict === 'accepted') + 1;
  let highest: AppliedReceipt | null = null;
  for (const receipt of delivery.receipts) {
    if (onlyAttempt !== undefined && receipt.attempt !== onlyAttempt) continue;
    if (receipt.attempt < accepted) continue;
    const result = delivery.attempts[receipt.attempt - 1]?.result;
    if (result && NOT_ACCEPTED.has(result.verdict)) continue;
    if (highest === null || stateRank(receipt) > stateRank(highest)) highest = receipt;
  }
  return highest && { ...REPORTED[highest.verdict], detail: wordsOf(highest) };
}

const stateRank = ({ verdict }: AppliedReceipt): number => rankOf(REPORTED[verdict].state);
const wordsOf = ({ source, detail }: AppliedReceipt): string => `${source} reported: ${detail}`;

export type ReceiptResult =
  /** `suppress`: the address of that attempt gets nothing more on this channel. */
  | {
      readonly kind: 'applied';
      readonly next: Delivery;
      readonly suppress: { readonly source: ReportedSuppression; readonly address: string } | null;
    }
  /** It was applied before. */
  | {
      readonly kind: 'known';
      readonly suppress: { readonly source: ReportedSuppression; readonly address: string } | null;
    }
  /** The receipt matches no attempt of this delivery over its account, so it is parked. */
  | { readonly kind: 'unknown' };

/**
 * Applies a receipt: once, only forward, in any order, even before the result of its own call is stored. A repeated
 * receipt returns `suppress` again, because the first process may have crashed before it listed the address.
 */
export function applyReceipt(before: Delivery, receipt: Receipt, moment: Moment): ReceiptResult {
  const number = receipt.attempt?.deliveryId === before.id ? receipt.attempt.attempt : 0;
  const attempt = before.attempts[number - 1];
  const tag = receipt.attempt?.tag ?? null;
  // An attempt of this number that the store forgot when it was put back.
  if (attempt && tag !== null && tag !== attemptTag(attempt.id)) return { kind: 'unknown' };
  // Everybody who got the message knows its token, and a foreign account may prove its own requests.
  if (!attempt || (receipt.account !== null && receipt.account !== attempt.account)) return { kind: 'unknown' };
  const suppress =
    receipt.suppress === null || attempt.to === null ? null : { source: receipt.suppress, address: attempt.to };
  if (before.receipts.some(({ id }) => id === receipt.id)) return { kind: 'known', suppress };
  const { id, source, verdict, code, detail, at, receivedAt } = receipt;
  const applied: AppliedReceipt = { id, source, verdict, code, detail, at, receivedAt, attempt: number };
  const recorded = { ...before, receipts: [...before.receipts, applied].slice(-RECEIPTS_KEPT) };
  const move = OPEN_TO_RECEIPTS.has(before.state) ? reportedMove(recorded) : null;
  const next =
    move !== null && rankOf(move.state) > rankOf(before.state)
      ? moveTo(recorded, move, { token: null, leaseUntil: null, nextAt: null }, moment)
      : { ...recorded, version: before.version + 1, updatedAt: moment.now };
  return { kind: 'applied', next, suppress };
}
