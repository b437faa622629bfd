import { formatInstant, type DeliveryId, type Instant, type IntentId, type JsonObject } from '@carillon/kernel';
import { channelOf } from '../channels/configured.ts';
import { findResource, type Configuration } from '../configuration/configuration.ts';
import type { Delivery } from '../deliveries/delivery.ts';
import type { Intent } from '../deliveries/intent.ts';
import { findNotification } from '../deliveries/presend.ts';
import { deliverySettings } from '../deliveries/settings.ts';
import type { Moment } from '../deliveries/moves.ts';
import type { ClosedWindow, DigestHead } from './head.ts';
import type { DigestedItem } from './contents.ts';
import { digestSettings } from './settings.ts';

/** The delivery id of a digest is known from its first item, before any of it is written. */
export type DigestSlot = { readonly slot: Intent['slot']; readonly id: DeliveryId };

/**
 * Name of a digest: the intent of its first item, and a number. `nth` counts from 1, and is higher only after a
 * restore, if a newer folder has a digest of this name without the item.
 */
export type DigestNaming = { readonly intentId: IntentId; readonly nth: number };

const partsOf = ({ intentId, nth }: DigestNaming): readonly string[] => (nth === 1 ? [intentId] : [intentId, `${nth}`]);

/** Returns the slot of a digest: the head, and what names the digest. */
export function digestSlot(
  head: Pick<DigestHead, 'id' | 'workspace' | 'notificationId' | 'channel'>,
  naming: DigestNaming,
  keyed: (...parts: readonly string[]) => string,
): DigestSlot {
  const { workspace, notificationId, channel } = head;
  const uniqueId = `digest-${keyed('digest slot', head.id, ...partsOf(naming))}`;
  const id = `dlv_${keyed('slot', workspace, notificationId, channel, uniqueId)}` as DeliveryId;
  return { slot: { workspace, notificationId, channel, uniqueId }, id };
}

const contentOf = ({ id, intent }: Delivery): DigestedItem => ({
  deliveryId: id,
  intentId: intent.id,
  ruleId: intent.ruleId,
  causedAt: intent.causedAt,
});

/** `items` with `count`, `first_at` and `last_at`; by bare name the values of the newest. Oldest first, at least one. */
export function digestValues(
  items: readonly { readonly causedAt: Instant; readonly variables: JsonObject }[],
): JsonObject {
  const [first, last] = [items[0], items.at(-1)];
  if (!first || !last) throw new RangeError('a digest of nothing');
  return {
    ...last.variables,
    items: items.map(({ variables }) => variables),
    count: items.length,
    first_at: formatInstant(first.causedAt),
    last_at: formatInstant(last.causedAt),
  };
}

/** Returns a digest without the items that are no longer kept. Null if none is left. */
export function digestOf(intent: Intent, isKept: (item: DigestedItem) => boolean): Intent | null {
  const { digest, variables } = intent;
  if (!digest) return intent;
  const { items, recheck: _checked, ...rest } = digest;
  const values = Array.isArray(variables['items']) ? (variables['items'] as readonly JsonObject[]) : [];
  const kept = items.flatMap((item, index) => (isKept(item) ? [{ item, variables: values[index] ?? {} }] : []));
  if (kept.length === 0) return null;
  const all = kept.map(({ item, variables: own }) => ({ causedAt: item.causedAt, variables: own }));
  return { ...intent, variables: digestValues(all), digest: { ...rest, items: kept.map(({ item }) => item) } };
}

/**
 * Makes the intent of a digest from the final list of a window, its name, and the included deliveries in list order.
 * Every process makes the same one. Fields that a message has only once come from the newest item. The intent is not on
 * the log.
 */
export function digestIntent(
  head: DigestHead,
  closing: ClosedWindow,
  { naming, included }: { readonly naming: DigestNaming; readonly included: readonly Delivery[] },
  pinned: Configuration,
  { derive, keyed }: { readonly derive: Moment['derive']; readonly keyed: (...parts: readonly string[]) => string },
): Intent {
  const oldestFirst = included.toSorted((a, b) => a.intent.causedAt - b.intent.causedAt);
  const newest = oldestFirst.at(-1);
  if (!newest) throw new RangeError('a digest of nothing');
  const { slot } = digestSlot(head, naming, keyed);
  const notification = findNotification(pinned, slot);
  const template =
    (notification &&
      (digestSettings(notification.body)?.template ?? channelOf(notification.body, slot.channel)?.template)) ??
    newest.intent.template;
  const expires = deliverySettings(notification?.body ?? { channels: {}, rules: {} }).expires;
  // The key by which an item was collected and the job that sent the item belong to the item only.
  const { digestKey: _key, sentBy: _sentBy, ...cause } = newest.intent;
  return {
    ...cause,
    id: derive('intent', 'digest', head.id, ...partsOf(naming)) as IntentId,
    slot,
    notification: notification?.ref.name ?? cause.notification,
    configNumber: closing.configNumber,
    variables: digestValues(oldestFirst.map(({ intent }) => intent)),
    template,
    templateVersion: findResource(pinned, 'template', slot.workspace, template)?.version ?? 0,
    sendAt: closing.at,
    notAfter: closing.at + expires,
    digest: { head: head.id, n: closing.n, items: oldestFirst.map(contentOf) },
  };
}
