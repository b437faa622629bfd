import type { DeriveId, Instant, IntentId } from '@carillon/kernel';
import type { Delivery, DeliveryReason, DeliveryState, HistoryEntry, Outcome } from './delivery.ts';
import type { Intent } from './intent.ts';

/** Time and id derivation, the inputs of every decision. */
export type Moment = { readonly now: Instant; readonly derive: DeriveId };

/** Maximum history entries in a document. The log has the complete history. */
export const HISTORY_KEPT = 100;
/** Ids of the newest intents that a document keeps, to recognize a repeated intent (docs/internals/delivery-states.md). */
export const JUDGED_KEPT = 32;

export type Move = { readonly state: DeliveryState; readonly reason: DeliveryReason; readonly detail: string };

export function outcomeOf(
  delivery: Pick<Delivery, 'id' | 'slot'>,
  intent: Intent,
  move: Move & { readonly id: string; readonly attempt: number; readonly at: Instant },
): Outcome {
  return {
    ...move,
    deliveryId: delivery.id,
    intentId: intent.id,
    eventId: intent.eventId,
    workspace: delivery.slot.workspace,
    notification: intent.notification,
    traceparent: intent.traceparent,
  };
}

/**
 * Writes one move: increments the version, adds a history entry, and keeps the outcome in `unpublished` until it is on
 * the log. Custody and the step into SENDING have no outcome.
 */
export function moveTo(
  before: Delivery,
  move: Move,
  patch: Partial<Omit<Delivery, 'id' | 'slot' | 'version' | 'state' | 'reason' | 'detail'>>,
  moment: Moment,
): Delivery {
  const version = before.version + 1;
  const silent = move.state === 'SENDING' || move.reason === 'new';
  const next: Delivery = { ...before, ...patch, ...move, version, updatedAt: moment.now };
  const entry: HistoryEntry = { ...move, at: moment.now, intentId: next.intent.id, version };
  const outcome = outcomeOf(next, next.intent, {
    ...move,
    id: moment.derive('outcome', before.id, String(version)),
    attempt: next.attempts.length,
    at: moment.now,
  });
  return {
    ...next,
    history: [...before.history, entry].slice(-HISTORY_KEPT),
    unpublished: silent ? before.unpublished : [...before.unpublished, outcome],
  };
}

export const rememberIntent = (before: readonly IntentId[], id: IntentId): readonly IntentId[] =>
  [...before, id].slice(-JUDGED_KEPT);

/** Removes outcomes that are on the log now from `unpublished`. Undefined if there are none. */
export function publishedOutcomes(before: Delivery, ids: ReadonlySet<string>): Delivery | undefined {
  const left = before.unpublished.filter((outcome) => !ids.has(outcome.id));
  if (left.length === before.unpublished.length) return undefined;
  return { ...before, unpublished: left, version: before.version + 1 };
}
