import type { Lookup, Trigger } from '@carillon/domain/lookups';
import type { EventId, TriggerId } from '@carillon/kernel';
import { MORNING } from './moments.ts';

/** A trigger of `order-paid.paid` of the shop, which asks the partner `crm`. */
export const givenTrigger = (more: Partial<Trigger> = {}): Trigger => ({
  id: 'trg_1' as TriggerId,
  workspace: 'shop',
  notification: 'order-paid',
  rule: 'order-paid.paid',
  ruleId: 'shop/order-paid.paid',
  ruleVersion: 1,
  configNumber: 0,
  integration: 'crm',
  eventId: 'evt_1' as EventId,
  eventPosition: 'carillon.events/0@5',
  part: 0,
  parts: 1,
  userIds: ['ada'],
  event: {},
  time: MORNING,
  causedAt: MORNING,
  notAfter: MORNING + 86_400_000,
  traceparent: null,
  ...more,
});

/** A lookup in which `crm` returned Ada. */
export const givenLookup = (more: Partial<Lookup> = {}): Lookup => ({
  trigger: givenTrigger(),
  callId: 'req_1',
  askedAt: MORNING,
  answeredAt: MORNING,
  status: 200,
  calls: 1,
  sharedBy: 1,
  items: [{ userId: 'ada', to: { email: 'ada@example.com', phone: null, token: null }, variables: { name: 'Ada' } }],
  problems: [],
  problemCounts: {},
  ...more,
});
