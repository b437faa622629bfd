import type { Delivery, DeliveryReason, DeliveryState } from '../deliveries/delivery.ts';
import type { Row, SlotState } from './row.ts';

const STATES: { readonly [State in Exclude<DeliveryState, 'DIGESTED'>]: SlotState } = {
  SENDING: 'notified',
  SENT: 'notified',
  DELIVERED: 'notified',
  BOUNCED: 'notified',
  COMPLAINED: 'notified',
  IN_DOUBT: 'notified',
  WAITING: 'waiting',
  COLLECTED: 'waiting',
  SUPPRESSED: 'stopped',
  EXPIRED: 'stopped',
  FAILED: 'stopped',
  CANCELLED: 'stopped',
};

type Held = Pick<Delivery, 'state' | 'reason'>;

/**
 * Returns the slot state of a row. `digest` is the delivery that `digestedIn` names; a digested delivery counts as that does. A
 * digest that is not in the ledger counts as sent, because nobody may be notified twice.
 */
export function slotStateOf(delivery: Held | undefined, digest?: Held): Pick<Row, 'slotState' | 'slotReason'> {
  if (!delivery) return { slotState: 'none', slotReason: null };
  if (delivery.state !== 'DIGESTED') return stateOf(delivery.state, delivery.reason);
  if (!digest || digest.state === 'DIGESTED') return { slotState: 'notified', slotReason: null };
  return stateOf(digest.state, digest.reason);
}

function stateOf(
  state: Exclude<DeliveryState, 'DIGESTED'>,
  reason: DeliveryReason,
): Pick<Row, 'slotState' | 'slotReason'> {
  const slotState = STATES[state];
  return { slotState, slotReason: slotState === 'stopped' ? reason : null };
}
