import type { DeliveryId, Duration, Instant } from '@carillon/kernel';
import { stringifyJson } from '@carillon/kernel';
import type { Configuration } from '../configuration/configuration.ts';
import type { Delivery } from '../deliveries/delivery.ts';
import { moveTo, type Moment } from '../deliveries/moves.ts';
import { findNotification } from '../deliveries/presend.ts';
import { deliverySettings } from '../deliveries/settings.ts';
import type { Collected } from './contents.ts';
import type { ListedItem } from './head.ts';

/** A COLLECTED delivery that nobody listed for so long is listed by the sweeper. */
export const UNLISTED_AFTER: Duration = 30_000;

/**
 * Returns true if a message may wait for a digest. Digests and test messages are sent directly. A message that may have
 * been accepted already must not be repeated within a digest.
 */
export const isCollectable = ({ clean, intent }: Delivery): boolean =>
  clean && intent.digest === undefined && intent.test === undefined;

/**
 * Moves a delivery to COLLECTED, either from WAITING or, for a later window, from COLLECTED. Returns undefined in any
 * other state.
 */
export function collectFor(
  before: Delivery,
  collected: Collected,
  detail: string,
  moment: Moment,
): Delivery | undefined {
  if (before.state !== 'WAITING' && before.state !== 'COLLECTED') return undefined;
  const move = { state: 'COLLECTED', reason: 'collected', detail } as const;
  return moveTo(before, move, { collected, nextAt: moment.now + UNLISTED_AFTER, tried: [] }, moment);
}

/** Time until the next try for an item that could not be listed, so that other unlisted items come first. */
const LISTED_AGAIN_AFTER: Duration = 60_000;

/** COLLECTED as it was, to be listed later. Undefined: it is on a list, or elsewhere by now. */
export function listLater(before: Delivery, now: Instant): Delivery | undefined {
  if (before.state !== 'COLLECTED' || before.nextAt === null) return undefined;
  return { ...before, nextAt: now + LISTED_AGAIN_AFTER, version: before.version + 1, updatedAt: now };
}

/** The item as the list of its window has it. */
export const itemOf = ({ id, intent, collected }: Delivery & { readonly collected: Collected }): ListedItem => ({
  deliveryId: id,
  token: collected.token,
  intentId: intent.id,
  size: sizeOf(intent),
});

export const sizeOf = ({ variables }: Delivery['intent']): number => stringifyJson(variables).length;

/**
 * Marks a delivery as listed, so that it is not checked before its window closes. Undefined if it is in another state
 * or window by now.
 */
export function knownListed(before: Delivery, token: string): Delivery | undefined {
  if (before.state !== 'COLLECTED' || before.collected?.token !== token || before.nextAt === null) return undefined;
  return { ...before, nextAt: null, version: before.version + 1 };
}

export type Emptied =
  | { readonly kind: 'digested'; readonly next: Delivery }
  /** It was moved before. */
  | { readonly kind: 'is_digested' }
  /** Cancelled meanwhile, or collected for another window since. */
  | { readonly kind: 'left_out' };

/**
 * Moves a listed delivery into its window's digest. Leaves out a delivery whose token differs from the listed one,
 * because it was cancelled or collected again since.
 */
export function digestItem(before: Delivery, { token }: ListedItem, digest: DeliveryId, moment: Moment): Emptied {
  if (before.collected?.token !== token) return { kind: 'left_out' };
  if (before.state === 'DIGESTED') return { kind: 'is_digested' };
  if (before.state !== 'COLLECTED') return { kind: 'left_out' };
  const move = { state: 'DIGESTED', reason: 'digested', detail: `in digest ${digest}` } as const;
  return { kind: 'digested', next: moveTo(before, move, { nextAt: null, digestedIn: digest }, moment) };
}

/**
 * Returns an item without its window, for an export that leaves windows out, so that the item is collected again. Its
 * digest could have been sent until `expires` after its window closed. The window counts as closed now, so the item
 * expires no earlier than that.
 */
export function dissolvedItem(before: Delivery, newest: Configuration, now: Instant): Delivery {
  const { collected: _left, ...delivery } = before;
  const body = findNotification(newest, before.slot)?.body ?? { channels: {}, rules: {} };
  const notAfter = Math.max(before.intent.notAfter, now + deliverySettings(body).expires);
  return {
    ...delivery,
    intent: { ...before.intent, notAfter },
    state: 'WAITING',
    reason: 'new',
    detail: 'the digest collects its messages again',
    nextAt: before.updatedAt,
  };
}
