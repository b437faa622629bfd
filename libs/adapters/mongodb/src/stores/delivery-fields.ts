import type { Delivery } from '@carillon/domain/deliveries';
import { withReceipts } from '@carillon/domain/receipts';
import { parseJson, stringifyJson } from '@carillon/kernel';
import type { DeliveryDocument } from '../documents.ts';

/** What a delivery is read from. */
export type Whole = Pick<DeliveryDocument, 'moving' | 'intent' | 'intentId' | 'body'>;
export const WHOLE = { moving: 1, intent: 1, intentId: 1, body: 1 } as const;

/** What every move may change. What moves names its intent by its id. */
export const movingFields = ({ intent, ...moving }: Delivery) => ({
  version: moving.version,
  state: moving.state,
  reason: moving.reason,
  updatedAt: moving.updatedAt,
  dueAt: moving.state === 'WAITING' ? (moving.nextAt ?? undefined) : undefined,
  leaseEnds: moving.state === 'SENDING' ? (moving.leaseUntil ?? undefined) : undefined,
  unlistedAt: moving.state === 'COLLECTED' ? (moving.nextAt ?? undefined) : undefined,
  unpublishedSince: moving.unpublished.length > 0 ? moving.updatedAt : undefined,
  moving: stringifyJson({ ...moving, intent: intent.id }),
});

/** All fields of a document, for an intent that is new to it. Slot, creation time and inserter never change. */
export const fieldsOf = (delivery: Delivery) => ({
  ...movingFields(delivery),
  notification: delivery.intent.notification,
  eventId: delivery.intent.eventId,
  recipient: delivery.intent.to,
  person: delivery.intent.person,
  rule: delivery.intent.rule,
  intent: stringifyJson(delivery.intent),
  intentId: delivery.intent.id,
});

export const sizeOf = ({ moving, intent, body }: Whole): number =>
  (moving?.length ?? 0) + (intent?.length ?? 0) + (body?.length ?? 0);

export function readDelivery({ moving, intent, body }: Whole): Delivery {
  const text = moving ?? body;
  if (text === undefined) throw new Error('a delivery in MongoDB has no contents');
  // The first versions wrote the intent within.
  if (intent === undefined) return withReceipts(parseJson(text) as unknown as Delivery);
  const moved = parseJson(text) as unknown as Omit<Delivery, 'intent'> & { readonly intent: string };
  const whole = parseJson(intent) as unknown as Delivery['intent'];
  if (whole.id !== moved.intent)
    throw new Error(`delivery ${moved.id} in MongoDB has no stored message content (intent)`);
  return withReceipts({ ...moved, intent: whole });
}

/**
 * Intents known to be stored in their documents. Intents are immutable, so the object with which a delivery was read or
 * written is the stored one at that version. Any other object is written.
 */
export function createIntents() {
  const there = new WeakMap<Delivery['intent'], string>();
  return {
    remember: ({ id, intent }: Delivery): void => void there.set(intent, id),
    isThere: ({ id, intent }: Delivery): boolean => there.get(intent) === id,
  };
}
