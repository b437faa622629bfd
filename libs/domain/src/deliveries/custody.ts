import { formatInstant, type DeliveryId } from '@carillon/kernel';
import { canonicalAddress, CHANNELS, type ChannelName } from '../channels/channel.ts';
import type { Delivery, DeliveryState } from './delivery.ts';
import type { Intent } from './intent.ts';
import { rememberIntent, moveTo, outcomeOf, type Moment } from './moves.ts';

/**
 * Returns the parts of the slot that are hashed to the delivery id. The id is the document's key, so the key enforces
 * uniqueness.
 */
export function slotParts({ slot }: Pick<Intent, 'slot'>): readonly [string, string, string, string] {
  const { workspace, notificationId, channel, uniqueId } = slot;
  return [workspace, notificationId, channel, uniqueId];
}

/**
 * Creates the document of an intent whose slot is free: due immediately or after its delay, suppressed without a valid
 * address, or cancelled if a restore called its event off.
 */
export function openDelivery(
  intent: Intent,
  intentPosition: string,
  id: DeliveryId,
  moment: Moment,
  calledOff = false,
): Delivery {
  const blank: Delivery = {
    id,
    slot: intent.slot,
    version: 0,
    state: 'WAITING',
    reason: 'new',
    detail: '',
    intent,
    intentPosition,
    clean: true,
    token: null,
    leaseUntil: null,
    nextAt: null,
    notAfter: intent.notAfter,
    attempts: [],
    attemptsUsed: 0,
    tried: [],
    judged: [intent.id],
    duplicates: 0,
    receipts: [],
    history: [],
    unpublished: [],
    createdAt: moment.now,
    updatedAt: moment.now,
  };
  return openWith(blank, moment, calledOff);
}

/** Returns why an address is invalid without quoting it, because the detail is shown in lists and logs. */
export const invalidAddress = (channel: ChannelName): string =>
  `the recipient's address is no ${CHANNELS[channel].address.words}`;

/** Author of a cancellation by `restore --cancel-unsent`. */
export const RESTORE = 'restore --cancel-unsent; it may have been sent after the backup';

function openWith(blank: Delivery, moment: Moment, calledOff: boolean, detail = ''): Delivery {
  const { to, slot } = blank.intent;
  if (to === null) {
    const why = `the recipient has no ${slot.channel} address`;
    return moveTo(blank, { state: 'SUPPRESSED', reason: 'no_address', detail: why }, { nextAt: null }, moment);
  }
  if (canonicalAddress(slot.channel, to) === null) {
    const move = { state: 'SUPPRESSED', reason: 'invalid_address', detail: invalidAddress(slot.channel) } as const;
    return moveTo(blank, move, { nextAt: null }, moment);
  }
  if (calledOff) {
    const move = { state: 'CANCELLED', reason: 'operator_cancel', detail: `by ${RESTORE}` } as const;
    return moveTo(blank, move, { nextAt: null }, moment);
  }
  const { sendAt } = blank.intent;
  if (sendAt > moment.now) {
    const due = [detail, `due at ${formatInstant(sendAt)}`].filter((part) => part !== '').join('; ');
    return moveTo(blank, { state: 'WAITING', reason: 'delayed', detail: due }, { nextAt: sendAt }, moment);
  }
  return moveTo(blank, { state: 'WAITING', reason: 'new', detail }, { nextAt: moment.now }, moment);
}

/**
 * States in which a holder gives its slot to another intent, unless it was ever in doubt
 * (docs/internals/delivery-states.md).
 */
const GIVES_WAY: ReadonlySet<DeliveryState> = new Set(['SUPPRESSED', 'EXPIRED', 'FAILED']);

/**
 * Returns true if another intent may take the slot over: nobody was notified and no attempt was in doubt. A DIGESTED
 * holder counts like its digest's delivery `digest`, which is null until it is in the ledger.
 */
export function givesSlotAway(
  holder: Pick<Delivery, 'state' | 'clean'>,
  digest: Pick<Delivery, 'state' | 'clean'> | null = null,
): boolean {
  // An item notifies people through its digest.
  const { state, clean } = holder.state === 'DIGESTED' && digest ? digest : holder;
  return GIVES_WAY.has(state) && clean && holder.clean;
}

export type CustodyDecision =
  | { readonly kind: 'known' }
  | { readonly kind: 'taken_over'; readonly next: Delivery }
  | { readonly kind: 'duplicate'; readonly next: Delivery };

/**
 * Decides about an intent whose slot has a document. `known`: custody of this intent is already recorded. Otherwise it
 * takes the slot over from a holder that ended unsent and without doubt, or it is a duplicate with its own outcome. A
 * DIGESTED holder counts like its digest's delivery `digest`, which is null until it is in the ledger. With `calledOff`
 * by a restore, the intent is cancelled.
 */
export function decideCustody(
  holder: Delivery,
  intent: Intent,
  intentPosition: string,
  moment: Moment,
  {
    calledOff = false,
    digest = null,
  }: { readonly calledOff?: boolean; readonly digest?: Pick<Delivery, 'state' | 'clean'> | null } = {},
): CustodyDecision {
  // The holder's id may have dropped out of the list of the last intents.
  if (holder.intent.id === intent.id || holder.judged.includes(intent.id)) return { kind: 'known' };
  const judged = rememberIntent(holder.judged, intent.id);
  if (givesSlotAway(holder, digest)) {
    const { state } = holder.state === 'DIGESTED' && digest ? digest : holder;
    const { collected: _left, digestedIn: _in, ...rest } = holder;
    const fresh = {
      ...rest,
      slot: intent.slot,
      intent,
      intentPosition,
      judged,
      notAfter: intent.notAfter,
      attemptsUsed: 0,
      tried: [],
      token: null,
      leaseUntil: null,
    };
    const ending = holder.state === state ? `${state} (${holder.reason})` : `in a digest that ended ${state}`;
    const from = `takes the slot over from event ${holder.intent.eventId}, which ended ${ending}`;
    return { kind: 'taken_over', next: openWith(fresh, moment, calledOff, from) };
  }
  const hint = holder.intent.triggerId === intent.triggerId ? '; the same event gave two addresses this unique_id' : '';
  const outcome = outcomeOf(holder, intent, {
    id: moment.derive('outcome', 'duplicate', intent.id),
    state: 'SUPPRESSED',
    reason: 'duplicate',
    detail: `duplicate of ${holder.id}${hint}`,
    attempt: 0,
    at: moment.now,
  });
  const next: Delivery = {
    ...holder,
    version: holder.version + 1,
    updatedAt: moment.now,
    judged,
    duplicates: holder.duplicates + 1,
    unpublished: [...holder.unpublished, outcome],
  };
  return { kind: 'duplicate', next };
}
