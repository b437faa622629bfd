import { withReceipts, type Delivery } from '@carillon/domain';
import { parseJson, stringifyJson } from '@carillon/kernel';
import type { DeliveryDocument } from '../documents.ts';

/** What a delivery is read from. */
export type Whole = Pick<DeliveryDocument, 'body' | 'intent'>;
export const WHOLE = { body: 1, intent: 1 } as const;

/** What every move may change. The body names its intent by its id. */
export const movingFields = ({ intent, ...moving }: Delivery) => ({
  version: moving.version,
  state: moving.state,
  reason: moving.reason,
  updatedAt: moving.updatedAt,
  dueAt: moving.state === 'WAITING' ? (moving.nextAt ?? undefined) : undefined,
  leaseEnds: moving.state === 'SENDING' ? (moving.leaseUntil ?? undefined) : undefined,
  unlistedAt: moving.state === 'COLLECTED' ? (moving.nextAt ?? undefined) : undefined,
  unpublishedSince: moving.unpublished.length > 0 ? moving.updatedAt : undefined,
  body: stringifyJson({ ...moving, intent: intent.id }),
});

/** The same with an intent that is new to the document. Slot and time of creation never change, and neither does who inserted it. */
export const fieldsOf = (delivery: Delivery) => ({
  ...movingFields(delivery),
  notification: delivery.intent.notification,
  eventId: delivery.intent.eventId,
  recipient: delivery.intent.to,
  person: delivery.intent.person,
  rule: delivery.intent.rule,
  intent: stringifyJson(delivery.intent),
});

export function readDelivery({ body, intent }: Whole): Delivery {
  // Early versions wrote the intent within the body.
  if (intent === undefined) return withReceipts(parseJson(body) as unknown as Delivery);
  const moving = parseJson(body) as unknown as Omit<Delivery, 'intent'> & { readonly intent: string };
  const whole = parseJson(intent) as unknown as Delivery['intent'];
  if (whole.id !== moving.intent) throw new Error(`delivery ${moving.id} names an intent that is not beside it`);
  return withReceipts({ ...moving, intent: whole });
}

/**
 * Which intents stand in their documents already. An intent never changes, so the very object that a delivery was read or written with
 * is the one that its document has at that version; of any other nobody knows, and it is written.
 */
export function createIntents() {
  const there = new WeakMap<Delivery['intent'], string>();
  return {
    remember: ({ id, intent }: Delivery): void => void there.set(intent, id),
    isThere: ({ id, intent }: Delivery): boolean => there.get(intent) === id,
  };
}
