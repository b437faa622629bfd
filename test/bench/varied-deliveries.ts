import { createIds } from '@carillon/adapter-system';
import type { Delivery, DeliveryReason, DeliveryState } from '@carillon/domain/deliveries';
import type { DeliveryId, EventId } from '@carillon/kernel';
import { deliveryOf } from '@carillon/testing';

const ids = createIds(new Uint8Array(32));

/** When they were made: a folder is kept, and is as old tomorrow. */
export const VARIED_FROM = Date.UTC(2026, 0, 1);
const DAY = 86_400_000;
/** What waits is for later than anybody measures. */
const NEVER = Date.UTC(2100, 0, 1);

/** How many of a hundred end how. */
const ENDS: readonly (readonly [share: number, state: DeliveryState, reason: DeliveryReason])[] = [
  [80, 'SENT', 'accepted'],
  [10, 'DELIVERED', 'delivered'],
  [4, 'FAILED', 'refused_recipient'],
  [3, 'SUPPRESSED', 'opted_out'],
  [2, 'BOUNCED', 'bounced'],
  [1, 'WAITING', 'transient'],
];
const CHANNELS = ['email', 'sms', 'push'] as const;
const NOTIFICATIONS = 40;
const PEOPLE = 50_000;

/** Not in the order of `n`, and the same each time. */
const spread = (n: number, over: number): number => (n * 7919) % over;

function endOf(n: number): readonly [DeliveryState, DeliveryReason] {
  let left = spread(n, 100);
  for (const [share, state, reason] of ENDS) {
    if (left < share) return [state, reason];
    left -= share;
  }
  return ['SENT', 'accepted'];
}

/** Delivery `n` of so many, which were made within one day, to 50,000 people. */
export function variedDelivery(n: number, of: number): Delivery {
  const [state, reason] = endOf(n);
  const person = `p_${spread(n, PEOPLE)}`;
  const createdAt = VARIED_FROM + Math.floor((n / of) * DAY);
  const notification = `notification-${spread(n, NOTIFICATIONS)}`;
  const slot = {
    notificationId: notification,
    uniqueId: `order-${n}`,
    channel: CHANNELS[n % CHANNELS.length] ?? 'email',
  } as const;
  return deliveryOf({
    id: `dlv_${ids.keyed('varied', String(n))}` as DeliveryId,
    slot,
    state,
    reason,
    createdAt,
    updatedAt: createdAt + 1_000,
    nextAt: state === 'WAITING' ? NEVER : null,
    notAfter: NEVER,
    intent: {
      notification,
      rule: `rule-${spread(n, NOTIFICATIONS)}`,
      person,
      to: `${person}@example.com`,
      eventId: eventOf(n),
    },
  });
}

const eventOf = (n: number): EventId => `evt_${ids.keyed('varied event', String(n))}` as EventId;

/** One filter of each kind that some of them match, as parameters of the list. */
export function variedFilters(of: number): readonly string[] {
  const n = Math.floor(of / 2);
  const { slot, intent } = variedDelivery(n, of);
  const hour = new Date(VARIED_FROM + DAY / 2).toISOString();
  return [
    'state=FAILED',
    'state=SENT,DELIVERED',
    'reason=opted_out',
    `channel=${slot.channel}`,
    `notification=${intent.notification}`,
    `rule=${intent.rule}`,
    `recipient=${String(intent.to).toUpperCase()}`,
    `person=${intent.person}`,
    `unique_id=${slot.uniqueId}`,
    `event=${intent.eventId}`,
    `to=${hour}`,
    '',
  ];
}
