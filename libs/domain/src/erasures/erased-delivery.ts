import type { Delivery } from '../deliveries/delivery.ts';
import type { Intent } from '../deliveries/intent.ts';
import { moveTo, type Moment } from '../deliveries/moves.ts';
import type { ErasureMatcher } from './subject.ts';
import { holdsAddress } from './texts.ts';

/** Person of an erased delivery. */
export const ERASED_PERSON = 'erased';

/** Returns true for a delivery to the person. */
const isTo = ({ intent, attempts }: Pick<Delivery, 'intent' | 'attempts'>, { isPerson }: ErasureMatcher): boolean =>
  [intent.person, intent.to, ...attempts.map(({ to }) => to)].some((name) => name !== null && isPerson(name));

/** Returns true if a delivery names the person, or somebody else's message holds an address of the person. */
export const concernsDelivery = (delivery: Delivery, matcher: ErasureMatcher): boolean =>
  isTo(delivery, matcher) || holdsAddress(delivery, matcher);

/** Returns true while nobody knows what becomes of the message: it is being sent, or in doubt. */
export const isUndecided = ({ state }: Pick<Delivery, 'state'>): boolean => state === 'SENDING' || state === 'IN_DOUBT';

/**
 * Returns a delivery without what it holds of an erased person. Its id, which is the hash of its slot, and its state stay, so that nobody is
 * notified twice. A message that waits is cancelled, and so is one of a backup that was being sent, whose slot nobody gets again. The message of another person loses its variables only.
 */
export function eraseDelivery(delivery: Delivery, matcher: ErasureMatcher, moment: Moment): Delivery {
  const own = isTo(delivery, matcher);
  const waits = delivery.state === 'WAITING' || delivery.state === 'COLLECTED' || isUndecided(delivery);
  const { collected: _, ...left } = delivery;
  const move = { state: 'CANCELLED', reason: 'operator_cancel', detail: 'a person was erased' } as const;
  const ended = waits
    ? moveTo(
        left,
        move,
        { nextAt: null, leaseUntil: null, token: null, clean: delivery.clean && !isUndecided(delivery) },
        moment,
      )
    : withNextVersion(delivery, moment);
  const intent = erasedIntent(ended, own);
  return {
    ...ended,
    slot: intent.slot,
    intent,
    detail: waits ? ended.detail : '',
    attempts: ended.attempts.map((attempt) => ({
      ...attempt,
      to: own ? null : attempt.to,
      result: attempt.result && { ...attempt.result, detail: '', providerId: null },
    })),
    receipts: ended.receipts.map((receipt) => ({ ...receipt, detail: '' })),
    history: ended.history.map((entry) => ({
      ...entry,
      detail: entry.version === ended.version && waits ? entry.detail : '',
    })),
    unpublished: ended.unpublished.map((outcome) => ({
      ...outcome,
      detail: outcome.reason === 'operator_cancel' ? outcome.detail : '',
    })),
  };
}

const withNextVersion = (delivery: Delivery, { now }: Moment): Delivery => ({
  ...delivery,
  version: delivery.version + 1,
  updatedAt: now,
});

function erasedIntent({ id, intent }: Delivery, own: boolean): Intent {
  const { digestKey: _, ...facts } = intent;
  if (!own) return { ...facts, variables: {} };
  return {
    ...facts,
    to: null,
    person: ERASED_PERSON,
    slot: { ...intent.slot, uniqueId: `${ERASED_PERSON} ${id}` },
    variables: {},
  };
}
