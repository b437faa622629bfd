import type { DeliveryState } from '@carillon/domain';
import type { Condition } from './conditions.ts';

/**
 * What lists and counts find a state by. A sender moves messages between WAITING and SENDING, to and fro; both are one phase, so that the
 * index of the lists is written only when a message leaves it.
 */
export const phaseOf = (state: DeliveryState): string => (state === 'WAITING' || state === 'SENDING' ? 'OPEN' : state);

export const BY_PHASE = 'INDEXED BY deliveries_phase';
export const BY_LEASE = 'INDEXED BY deliveries_lease';

/** Deliveries in a state, in the order of lists. Few are SENDING at a time, no more than there are connections: whatever else is open waits. */
export function inState(state: DeliveryState): { readonly index: string; readonly condition: Condition } {
  if (state === 'SENDING') return { index: BY_LEASE, condition: ["state = 'SENDING'"] };
  if (state !== 'WAITING') return { index: BY_PHASE, condition: ['phase = ?', phaseOf(state)] };
  const sending = `SELECT id FROM deliveries ${BY_LEASE} WHERE state = 'SENDING'`;
  return { index: BY_PHASE, condition: [`phase = ? AND id NOT IN (${sending})`, phaseOf(state)] };
}
