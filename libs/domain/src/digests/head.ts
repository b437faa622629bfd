import type { DeliveryId, Instant, IntentId } from '@carillon/kernel';
import type { ChannelName } from '../channels/channel.ts';
import type { Intent } from '../deliveries/intent.ts';
import { extendedBy, type WindowEnd } from './window.ts';

/** Maximum total size of a digest's items, in characters of their JSON. */
export const MAX_DIGEST_CHARACTERS = 400_000;

/** A delivery on the list of a window, under the token of its step into COLLECTED: an older token names nobody. */
export type ListedItem = {
  readonly deliveryId: DeliveryId;
  readonly token: string;
  readonly intentId: IntentId;
  /** Characters of its variables, written as JSON. */
  readonly size: number;
};

/** A window whose list is final, until its digest stands in the ledger. */
export type ClosedWindow = {
  readonly n: number;
  readonly items: readonly ListedItem[];
  /** When it was closed; the digest expires by it. */
  readonly at: Instant;
  /** The configuration that the digest is made by. */
  readonly configNumber: number;
};

/**
 * The windows of one address and digest key of a notification's channel, in sequence. Kept forever, because a reused
 * number would name two windows. It contains no personal data: the id is a keyed hash.
 */
export type DigestHead = {
  readonly id: string;
  readonly workspace: string;
  readonly notificationId: string;
  readonly channel: ChannelName;
  /** Grows by one with every write; compare-and-set goes by it. 0: not stored yet. */
  readonly version: number;
  /** Number of the window that is open, or opens next. */
  readonly n: number;
  readonly items: readonly ListedItem[];
  /** Null: no window is open. */
  readonly end: WindowEnd | null;
  /** At most one window is closed and not sent yet. */
  readonly closing: ClosedWindow | null;
  readonly updatedAt: Instant;
};

/**
 * Returns the key by which items share a digest: person, address and, if the notification has one, digest key. A digest
 * belongs to one person, because opt-outs, links and limits are personal.
 */
export const headParts = (intent: Intent): readonly string[] => [
  'digest',
  intent.slot.workspace,
  intent.slot.notificationId,
  intent.slot.channel,
  `person ${intent.person}`,
  intent.to ?? '',
  ...(intent.digestKey === undefined ? [] : [`key ${intent.digestKey}`]),
];

export const emptyHead = (id: string, { workspace, notificationId, channel }: Intent['slot']): DigestHead => ({
  id,
  workspace,
  notificationId,
  channel,
  version: 0,
  n: 0,
  items: [],
  end: null,
  closing: null,
  updatedAt: 0,
});

/** When somebody has to look at the head: a closed window is due at once. */
export const headDueAt = ({ closing, end }: DigestHead): Instant | null => closing?.at ?? end?.closesAt ?? null;

const charactersOf = (items: readonly ListedItem[]): number => items.reduce((sum, { size }) => sum + size, 0);

const written = (before: DigestHead, now: Instant): Pick<DigestHead, 'version' | 'updatedAt'> => ({
  version: before.version + 1,
  updatedAt: now,
});

/**
 * Closes the open window in one write: its list is final, and the next window gets the next number. Undefined if it is
 * empty or the previous window is not emptied yet; the caller then helps to empty that first.
 */
export function closeWindow(before: DigestHead, configNumber: number, now: Instant): DigestHead | undefined {
  if (before.closing !== null || before.items.length === 0) return undefined;
  const closing: ClosedWindow = { n: before.n, items: before.items, at: now, configNumber };
  return { ...before, ...written(before, now), n: before.n + 1, items: [], end: null, closing };
}

/** The closed window `n` has its digest. Undefined: somebody else said so. */
export function windowEmptied(before: DigestHead, n: number, now: Instant): DigestHead | undefined {
  if (before.closing?.n !== n) return undefined;
  return { ...before, ...written(before, now), closing: null };
}

export type Listing =
  | { readonly kind: 'listed'; readonly next: DigestHead }
  /** The open or the closed list has the item under this token. */
  | { readonly kind: 'is_listed' }
  /** The open window is due or has no room for it. */
  | { readonly kind: 'close_first' }
  /** The window closed without this item, so the item is collected for the open window. */
  | { readonly kind: 'moved_on' };

const names = (items: readonly ListedItem[], item: ListedItem): boolean =>
  items.some(({ deliveryId, token }) => deliveryId === item.deliveryId && token === item.token);

/**
 * Adds a delivery that is COLLECTED for window `n` under the item's token, in place of an older token of it. The first one
 * opens the window, which then ends as `opened` says.
 */
export function listItem(
  before: DigestHead,
  item: ListedItem,
  n: number,
  { opened, maxItems }: { readonly opened: WindowEnd; readonly maxItems: number },
  now: Instant,
): Listing {
  if (before.n !== n) {
    const isClosed = before.closing?.n === n && names(before.closing.items, item);
    return { kind: isClosed ? 'is_listed' : 'moved_on' };
  }
  if (names(before.items, item)) return { kind: 'is_listed' };
  const others = before.items.filter(({ deliveryId }) => deliveryId !== item.deliveryId);
  if (isDue(before, now) || !hasRoom(others, item.size, maxItems)) return { kind: 'close_first' };
  const items = [...others, item];
  const end = before.end === null ? opened : extendedBy(before.end, now);
  // Due with this very write: were it closed by another one alone, a process that dies in between would leave it open.
  const ends = hasRoom(items, 0, maxItems) ? end : { ...end, closesAt: Math.min(end.closesAt, now) };
  return { kind: 'listed', next: { ...before, ...written(before, now), items, end: ends } };
}

const isDue = ({ end }: DigestHead, now: Instant): boolean => end !== null && end.closesAt <= now;

/**
 * Returns true if an item of `size` characters fits into the window. An empty window takes any item, because an item
 * larger than a whole digest is refused before.
 */
const hasRoom = (items: readonly ListedItem[], size: number, maxItems: number): boolean =>
  items.length === 0 || (items.length < maxItems && charactersOf(items) + size <= MAX_DIGEST_CHARACTERS);

/** Whether a further item of this size has to wait for the next window. */
export const mustClose = (head: DigestHead, size: number, maxItems: number, now: Instant): boolean =>
  isDue(head, now) || !hasRoom(head.items, size, maxItems);

/**
 * Result of listing several deliveries of one head: the listed ones, and the document to write. Null: nothing to write.
 */
export type Listings = { readonly next: DigestHead | null; readonly listed: ReadonlySet<string> };

/** Lists as many as may be, in their order, with one write. `listed` has the tokens of those that are on a list after it. */
export function listItems(
  before: DigestHead,
  items: readonly { readonly item: ListedItem; readonly n: number }[],
  settings: { readonly opened: WindowEnd; readonly maxItems: number },
  now: Instant,
): Listings {
  const listed = new Set<string>();
  let next = before;
  for (const { item, n } of items) {
    const listing = listItem(next, item, n, settings, now);
    if (listing.kind === 'listed') next = { ...listing.next, version: before.version + 1 };
    if (listing.kind === 'listed' || listing.kind === 'is_listed') listed.add(item.token);
  }
  return { next: next === before ? null : next, listed };
}
