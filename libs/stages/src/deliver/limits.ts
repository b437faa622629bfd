import {
  fateOf,
  fenced,
  decideLimits,
  limitIndexOf,
  limitsMet,
  withEntry,
  withFound,
  withoutEntry,
  type Countable,
  type EntryFate,
  type FrequencyLimit,
  type FullLimit,
  type LimitIndex,
  type Pruning,
  type SentEntry,
  type SentToPerson,
} from '@carillon/domain/cadence';
import { localityOf, type Configuration, type Resource } from '@carillon/domain/configuration';
import { personName } from '@carillon/domain/consent';
import type { Delivery } from '@carillon/domain/deliveries';
import type { Instant } from '@carillon/kernel';
import type { Clock, DeliveryLedger, Ids, LimitStore } from '@carillon/ports';
import { serializeByKey, type SerializeByKey } from './serialize-by-key.ts';
import { rewriteDelivery } from './transition.ts';

export type LimitPorts = {
  readonly limits: LimitStore;
  readonly ledger: DeliveryLedger;
  readonly ids: Ids;
  readonly clock: Clock;
};

/** A reservation under the limits: token of the coming attempt, and its time. */
export type Place = { readonly token: string; readonly at: Instant };

export type RoomAnswer =
  /** No limit counts the message; nothing was written. */
  | { readonly kind: 'uncounted' }
  | { readonly kind: 'taken'; readonly place: Place }
  /** Messages still being sent fill a limit, so the result will be known soon. */
  | { readonly kind: 'again' }
  | { readonly kind: 'full'; readonly full: FullLimit; readonly zone: string };

/** Tries of a compare-and-set on a person's document before the message is checked again a moment later. */
const TRIES = 16;
const READ_BATCH_SIZE = 50;

/** Properties of a message that the limits of its workspace use. */
type Asking = {
  readonly delivery: Delivery;
  readonly message: Countable;
  readonly person: Pick<SentToPerson, 'workspace' | 'person'>;
  readonly limits: readonly FrequencyLimit[];
  readonly index: LimitIndex;
  readonly zone: string;
};

/**
 * Reserves room for the message under every limit that counts it, in one compare-and-set, or returns that there is
 * none. This is the last check before SENDING. Only accepted and in-doubt messages fill a limit; reservations left by
 * crashed processes are detected and removed. The caller then moves the delivery to SENDING with the reservation's
 * token, or releases the reservation (`giveBack`).
 */
export async function takeRoom(
  delivery: Delivery,
  notification: Resource<'notification'>,
  newest: Configuration,
  ports: LimitPorts,
): Promise<RoomAnswer> {
  // A test message counts toward no limit.
  if (delivery.intent.test !== undefined) return { kind: 'uncounted' };
  const { workspace, notificationId, channel } = delivery.slot;
  const message: Countable = {
    triggerId: delivery.intent.triggerId,
    notificationId,
    category: notification.body.category ?? null,
    channel,
  };
  const index = limitIndexOf(newest, workspace);
  const limits = limitsMet(index, message);
  if (limits.length === 0) return { kind: 'uncounted' };
  const { timeZone: zone } = localityOf(newest, workspace, delivery.intent.variables).locality;
  const person = { workspace, person: personOf(delivery, ports.ids) };
  return turnsOf(ports.limits)(nameOf(person), () => take({ delivery, message, person, limits, index, zone }, ports));
}

/**
 * Serializes messages of one person at that person's document. Otherwise, in a burst, all messages read the document at
 * once, one writes, and the others read again: work that grows with the square of the burst.
 */
const turns = new WeakMap<LimitPorts['limits'], SerializeByKey>();
function turnsOf(limits: LimitPorts['limits']): SerializeByKey {
  const known = turns.get(limits) ?? serializeByKey();
  turns.set(limits, known);
  return known;
}

const nameOf = ({ workspace, person }: Asking['person']): string => `${workspace} ${person}`;

const personOf = ({ intent }: Delivery, ids: Ids): string =>
  personName(intent.person, (...parts) => ids.keyed(...parts));

async function take(asking: Asking, ports: LimitPorts): Promise<RoomAnswer> {
  const { delivery, message, person, limits, zone } = asking;
  const [waitedFor, doubts] = [new Set<string>(), new Set<string>()];
  for (let tries = 0; tries < TRIES; tries += 1) {
    const before = await ports.limits.find(person.workspace, person.person);
    const now = ports.clock.now();
    // Retry, failover and resend of one delivery count once.
    const others = (before?.entries ?? [])
      .filter(({ deliveryId }) => deliveryId !== delivery.id)
      .map((entry) => (doubts.has(entry.token) ? { ...entry, sure: true } : entry));
    const verdict = decideLimits(limits, others, message, zone, now);
    if (verdict.kind === 'full') return { kind: 'full', full: verdict, zone };
    if (verdict.kind === 'look') {
      const unknown = verdict.entries.filter(({ token }) => !waitedFor.has(token));
      if (unknown.length === 0 || !before) return { kind: 'again' };
      await findOut(before, unknown, { waitedFor, doubts }, asking, ports);
      continue;
    }
    const entry: SentEntry = {
      ...message,
      deliveryId: delivery.id,
      token: ports.ids.token(),
      at: now,
      sure: false,
    };
    const next = withEntry(before, person, entry, pruning(asking, now, ports));
    if ((await ports.limits.replace(next, before?.revision ?? null)) === 'stale') continue;
    return { kind: 'taken', place: entry };
  }
  return { kind: 'again' };
}

const pruning = ({ index, zone }: Asking, now: Instant, { ids }: LimitPorts): Pruning => ({
  index,
  zone,
  now,
  revision: ids.token(),
});

/**
 * Checks the deliveries that seem to fill a limit, fences those without an active sender, and stores final results.
 * Doubts are checked by every message, because they count only while they last.
 */
async function findOut(
  before: SentToPerson,
  unknown: readonly SentEntry[],
  { waitedFor, doubts }: { readonly waitedFor: Set<string>; readonly doubts: Set<string> },
  asking: Asking,
  ports: LimitPorts,
): Promise<void> {
  const found = { sure: new Set<string>(), gone: new Set<string>() };
  for (let from = 0; from < unknown.length; from += READ_BATCH_SIZE) {
    const some = unknown.slice(from, from + READ_BATCH_SIZE);
    const fates = await Promise.all(some.map((entry) => lookAt(entry, ports)));
    for (const [index, { token }] of some.entries()) {
      const fate = fates[index];
      if (fate === 'sure' || fate === 'gone') found[fate].add(token);
      else (fate === 'doubt' ? doubts : waitedFor).add(token);
    }
  }
  if (found.sure.size + found.gone.size === 0) return;
  const next = withFound(before, found, pruning(asking, ports.clock.now(), ports));
  // If another writer was first, the document is read and checked again.
  await ports.limits.replace(next, before.revision);
}

async function lookAt(entry: SentEntry, { ledger, clock }: LimitPorts): Promise<Exclude<EntryFate, 'fence'>> {
  const delivery = await ledger.get(entry.deliveryId);
  const fate = fateOf(entry, delivery, clock.now());
  if (fate !== 'fence' || !delivery) return fate === 'fence' ? 'gone' : fate;
  // Fence the delivery first, so that its sender fails before another message gets the room.
  return (await rewriteDelivery(delivery, fenced(delivery), ledger)) === 'done' ? 'gone' : 'again';
}

/** Releases a reservation after a definite refusal or a lost step into SENDING. */
export async function giveBack(
  delivery: Delivery,
  token: string,
  ports: Pick<LimitPorts, 'limits' | 'ids'>,
): Promise<void> {
  const { workspace } = delivery.slot;
  const person = personOf(delivery, ports.ids);
  await turnsOf(ports.limits)(nameOf({ workspace, person }), async () => {
    for (let tries = 0; tries < TRIES; tries += 1) {
      const before = await ports.limits.find(workspace, person);
      const next = withoutEntry(before, token, ports.ids.token());
      if (!next || !before) return;
      if ((await ports.limits.replace(next, before.revision)) === 'done') return;
    }
  });
}
