import type { Delivery, Outcome } from '@carillon/domain/deliveries';
import type { DeliveryId, EventId, IntentId, TriggerId } from '@carillon/kernel';
import { freshName } from './under-test.ts';

/** What a test says of a delivery; everything else is filled in. */
export type DeliveryFacts = Partial<Omit<Delivery, 'slot' | 'intent'>> & {
  readonly slot?: Partial<Delivery['slot']>;
  readonly intent?: Partial<Delivery['intent']>;
};

/** A delivery as `deliver` inserts it: WAITING and due at 100. */
export function deliveryOf(facts: DeliveryFacts = {}): Delivery {
  const { slot: slotFacts, intent: intentFacts, ...rest } = facts;
  const workspace = slotFacts?.workspace ?? 'shop';
  const slot = {
    workspace,
    notificationId: 'ntf',
    channel: 'email',
    uniqueId: freshName('unique'),
    ...slotFacts,
  } as const;
  const intentId = freshName('int') as IntentId;
  return {
    id: freshName('dlv') as DeliveryId,
    slot,
    version: 1,
    state: 'WAITING',
    reason: 'new',
    detail: '',
    intent: {
      id: intentId,
      slot,
      notification: 'order-paid',
      rule: 'paid',
      ruleId: 'rul',
      ruleVersion: 1,
      configNumber: 3,
      eventId: freshName('evt') as EventId,
      eventPosition: 'carillon.events/0@1',
      triggerId: freshName('trg') as TriggerId,
      to: 'ada@example.com',
      person: 'ada@example.com',
      variables: { name: 'Ada' },
      template: 'order-paid',
      templateVersion: 1,
      causedAt: 10,
      sendAt: 10,
      notAfter: 1_000_000,
      traceparent: null,
      ...intentFacts,
    },
    clean: true,
    token: null,
    leaseUntil: null,
    nextAt: 100,
    notAfter: 1_000_000,
    attempts: [],
    attemptsUsed: 0,
    judged: [intentId],
    intentPosition: 'carillon.intents/0@1',
    tried: [],
    duplicates: 0,
    receipts: [],
    history: [],
    unpublished: [],
    createdAt: 50,
    updatedAt: 50,
    ...rest,
  };
}

export const outcomeOf = (delivery: Delivery): Outcome => ({
  id: freshName('out'),
  deliveryId: delivery.id,
  intentId: delivery.intent.id,
  eventId: delivery.intent.eventId,
  workspace: delivery.slot.workspace,
  notification: delivery.intent.notification,
  state: delivery.state,
  reason: delivery.reason,
  detail: '',
  attempt: 0,
  at: 60,
  traceparent: null,
});
