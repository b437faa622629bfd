import type { DeriveId, Instant, IntentId } from '@carillon/kernel';
import type { Delivery, DeliveryReason, DeliveryState, HistoryEntry, Outcome } from './delivery.ts';
import type { Intent } from './intent.ts';

/** What every decision gets from outside. */
export type Moment = { readonly now: Instant; readonly derive: DeriveId };

/** A document keeps this much of its own story; the log has the rest. */
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
 * One write of the document: the version grows by one, the move enters the history, and its outcome waits in
 * `unpublished` until it is on the log. Custody itself and a step into SENDING have no outcome yet.
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

/** The document without outcomes that are on the log now; undefined if none of them was waiting. */
export function publishedOutcomes(before: Delivery, ids: ReadonlySet<string>): Delivery | undefined {
  const left = before.unpublished.filter((outcome) => !ids.has(outcome.id));
  if (left.length === before.unpublished.length) return undefined;
  return { ...before, unpublished: left, version: before.version + 1 };
}
