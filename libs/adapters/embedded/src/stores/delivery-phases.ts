import { DELIVERY_STATES, type Delivery, type DeliveryState } from '@carillon/domain/deliveries';
import type { Condition } from './conditions.ts';

/** What is WAITING or SENDING and was never tried or held, and all else that is open. */
const [NEW, OPEN] = ['NEW', 'OPEN'];
const isOpen = (state: DeliveryState): boolean => state === 'WAITING' || state === 'SENDING';

/**
 * Returns the phase by which lists and counts find a state. WAITING and SENDING share one phase, so that the index is
 * only written when a message leaves both. New deliveries have their own, so that searches for them read no held ones,
 * without extra writes for messages sent at once.
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
 * Returns disjoint index walks for deliveries in a state, each in list order. Few are SENDING, at most one per
 * connection; all other open ones wait.
 */
export function inState(state: DeliveryState): readonly { readonly index: string; readonly condition: Condition }[] {
  if (state === 'SENDING') return [{ index: BY_LEASE, condition: ["state = 'SENDING'"] }];
  const sending = `SELECT id FROM deliveries ${BY_LEASE} WHERE state = 'SENDING'`;
  const also = isOpen(state) ? ` AND id NOT IN (${sending})` : '';
  return phasesOf(state).map((phase) => ({ index: BY_PHASE, condition: [`phase = ?${also}`, phase] }));
}
