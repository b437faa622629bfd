import { DELIVERY_STATES, type Delivery, type DeliveryState } from '@carillon/domain/deliveries';
import type { Condition } from './conditions.ts';

/** What is WAITING or SENDING and was never tried or held, and all else that is open. */
const [NEW, OPEN] = ['NEW', 'OPEN'];
const isOpen = (state: DeliveryState): boolean => state === 'WAITING' || state === 'SENDING';

/**
 * What lists and counts find a state by. A sender moves messages between WAITING and SENDING, to and fro; both are one phase, so that the
 * index of the lists is written only when a message leaves it. What is new has its own: who searches for it reads nothing of what is held,
 * and a message that is sent at once is written there no more often.
 */
export const phaseOf = ({ state, reason }: Pick<Delivery, 'state' | 'reason'>): string =>
  !isOpen(state) ? state : reason === 'new' ? NEW : OPEN;

const phasesOf = (state: DeliveryState): readonly string[] => (isOpen(state) ? [NEW, OPEN] : [state]);
export const PHASES: readonly string[] = [...new Set(DELIVERY_STATES.flatMap(phasesOf))];

/**
 * Reasons that go with a phase of their own (a law of the domain: what is new is open, what was accepted is SENT). The index of reasons
 * leaves them out.
 */
export const PHASES_OF_REASONS: ReadonlyMap<string, string> = new Map([
  ['new', NEW],
  ['accepted', 'SENT'],
]);

export const BY_PHASE = 'INDEXED BY deliveries_phase';
export const BY_LEASE = 'INDEXED BY deliveries_lease';

/**
 * Deliveries in a state, in walks in the order of lists that have nothing in common. Few are SENDING at a time, no more than there are
 * connections: whatever else is open waits.
 */
export function inState(state: DeliveryState): readonly { readonly index: string; readonly condition: Condition }[] {
  if (state === 'SENDING') return [{ index: BY_LEASE, condition: ["state = 'SENDING'"] }];
  const sending = `SELECT id FROM deliveries ${BY_LEASE} WHERE state = 'SENDING'`;
  const also = isOpen(state) ? ` AND id NOT IN (${sending})` : '';
  return phasesOf(state).map((phase) => ({ index: BY_PHASE, condition: [`phase = ?${also}`, phase] }));
}
