import { formatInstant, type DeliveryId } from '@carillon/kernel';
import { canonicalAddress, CHANNELS, type ChannelName } from '../channels/channel.ts';
import type { Delivery, DeliveryState } from './delivery.ts';
import type { Intent } from './intent.ts';
import { rememberIntent, moveTo, outcomeOf, type Moment } from './moves.ts';

/** The id that people see, and the document's `_id`: a keyed hash of the slot, so the key itself is the uniqueness rule. */
export function slotParts({ slot }: Pick<Intent, 'slot'>): readonly [string, string, string, string] {
  const { workspace, notificationId, channel, uniqueId } = slot;
  return [workspace, notificationId, channel, uniqueId];
}

/**
 * The document that an intent opens if its slot is free: due at once or after its delay, or suppressed where there is no valid address, or
 * cancelled where a restore called off whatever its event causes.
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

/** Why an address gets nothing, without the address: the detail is told in lists and logs. */
export const invalidAddress = (channel: ChannelName): string =>
  `the recipient's address is no ${CHANNELS[channel].address.words}`;

/** Who cancelled what a restored backup had not sent (`restore --cancel-unsent`). */
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

/** Holders in these states, never in doubt, give their slot to another intent (docs/internals/delivery-states.md). */
const GIVES_WAY: ReadonlySet<DeliveryState> = new Set(['SUPPRESSED', 'EXPIRED', 'FAILED']);

/**
 * Whether another intent takes the slot of this holder over, because nobody was notified and no attempt was in doubt. A DIGESTED holder
 * counts as its digest's delivery: `digest`, null while it is not in the ledger yet.
 */
export function givesSlotAway(
  holder: Pick<Delivery, 'state' | 'clean'>,
  digest: Pick<Delivery, 'state' | 'clean'> | null = null,
): boolean {
  // Nobody was told by an item but by its digest.
  const { state, clean } = holder.state === 'DIGESTED' && digest ? digest : holder;
  return GIVES_WAY.has(state) && clean && holder.clean;
}

export type CustodyDecision =
  | { readonly kind: 'known' }
  | { readonly kind: 'taken_over'; readonly next: Delivery }
  | { readonly kind: 'duplicate'; readonly next: Delivery };

/**
 * What becomes of an intent whose slot has a document: `known` if it was judged before (custody is in the ledger), else
 * it takes the slot over from a holder that ended unsent and clean, or it is a duplicate with an outcome of its own. A DIGESTED
 * holder counts as its digest's delivery does: `digest`, null while it is not in the ledger yet. `calledOff` by a restore, it is cancelled.
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
  // The holder itself may have been crowded out of the list by others that were judged since.
  if (holder.intent.id === intent.id || holder.judged.includes(intent.id)) return { kind: 'known' };
  const judged = rememberIntent(holder.judged, intent.id);
  if (givesSlotAway(holder, digest)) {
    const { state } = holder.state === 'DIGESTED' && digest ? digest : holder;
    const { collected: _left, digestedIn: _in, ...held } = holder;
    const fresh = {
      ...held,
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
