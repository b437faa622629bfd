import {
  collectFor,
  digestSettings,
  emptyHead,
  extendedBy,
  findNotification,
  headParts,
  itemOf,
  knownListed,
  listItems,
  localityOf,
  localTimeText,
  MAX_DIGEST_CHARACTERS,
  mustClose,
  openedNow,
  sizeOf,
  endUnsent,
  type Collected,
  type Delivery,
  type DigestHead,
  type DigestSettings,
  type WindowEnd,
} from '@carillon/domain';
import type { Ids } from '@carillon/ports';
import { moveAndTell, publishOutcomes } from '../outcomes.ts';
import { closeWindows } from './empty.ts';
import { momentOf, type DigestPorts } from './ports.ts';

/** A head that keeps moving is under heavy fire; what is COLLECTED by then is listed by the sweeper. */
const MAX_TRIES = 100;

export const headIdOf = (delivery: Delivery, ids: Pick<Ids, 'keyed'>): string =>
  `dgh_${ids.keyed(...headParts(delivery.intent))}`;

type Held = Delivery & { readonly collected: Collected };

/**
 * Moves deliveries of one head into its open window and lists them there (docs/internals/digests.md, steps 1 and 2). They are
 * WAITING, or COLLECTED and on no list. Each is collected first and listed then, so that a crash leaves it for the sweeper;
 * each step says no where somebody else moved it. Answers those that stand on a list now, or ended for being too large.
 */
export async function collectForDigest(
  deliveries: readonly Delivery[],
  why: string,
  ports: DigestPorts,
): Promise<readonly Delivery[]> {
  const { digestHeads, ids, clock } = ports;
  const [first] = deliveries;
  const settings = first && settingsFor(first, ports);
  if (!first || !settings) return [];
  const headId = headIdOf(first, ids);
  const { ended, fitting } = await refuseTooLarge(deliveries, ports);
  const listed: Delivery[] = [];
  let open = fitting;
  let full: DigestHead | null = null;
  let isInDoubt = false;
  for (let tries = 0; open.length > 0; tries += 1) {
    if (tries === MAX_TRIES) throw new Error(`the digest head ${headId} keeps changing`);
    const head = (await digestHeads.get(headId)) ?? emptyHead(headId, first.slot);
    if (mustClose(head, sizeOf(open[0]!.intent), settings.maxItems, clock.now())) {
      await closeWindows(head, true, ports);
      continue;
    }
    const opened = openedNow(settings.window, zoneOf(open[0]!, ports), clock.now());
    const held = await collectAll(open, head, words(head, opened, open[0]!, why, ports), ports);
    const listing = listItems(head, held.map(placed), { opened, maxItems: settings.maxItems }, clock.now());
    if (listing.next) {
      const written = await digestHeads.replace(listing.next).catch((error: unknown) => ({ error }));
      // The answer alone may have been lost: the list itself says so. A store that says no again is in trouble.
      if (typeof written === 'object' && isInDoubt) throw written.error;
      isInDoubt = typeof written === 'object';
      if (written !== 'done') {
        open = held;
        continue;
      }
    }
    if (listing.next && mustClose(listing.next, 0, settings.maxItems, clock.now())) full = listing.next;
    listed.push(...held.filter(({ collected }) => listing.listed.has(collected.token)));
    open = held.filter(({ collected }) => !listing.listed.has(collected.token));
  }
  await publishOutcomes([...listed, ...ended], ports, (seen) => {
    const ours = listed.find(({ id }) => id === seen.id);
    return knownListed(seen, ours?.collected?.token ?? '');
  });
  // Nobody need come for one that is full.
  if (full) await closeWindows(full, true, ports);
  return [...listed, ...ended];
}

const placed = (held: Held) => ({ item: itemOf(held), n: held.collected.n });

/** The newest configuration counts. Where digests were switched off meanwhile, what is COLLECTED goes on as it began. */
function settingsFor(delivery: Delivery, { configuration }: DigestPorts): DigestSettings | null {
  const notification = findNotification(configuration.current(), delivery.slot);
  const settings = notification ? digestSettings(notification.body) : null;
  return settings ?? (delivery.state === 'COLLECTED' ? SWITCHED_OFF : null);
}

/** The window of an item that was collected for one that is gone, when nobody collects any more: it ends at once. */
const SWITCHED_OFF: DigestSettings = {
  when: 'always',
  window: { kind: 'fixed', length: 0 },
  maxItems: 500,
  template: null,
};

const zoneOf = ({ slot, intent }: Delivery, { configuration }: DigestPorts): string =>
  localityOf(configuration.current(), slot.workspace, intent.variables).locality.timeZone;

function words(head: DigestHead, opened: WindowEnd, delivery: Delivery, why: string, ports: DigestPorts): string {
  const { closesAt, slide } = head.end === null ? opened : extendedBy(head.end, ports.clock.now());
  const zone = zoneOf(delivery, ports);
  const latest = slide === null ? '' : `, at the latest ${localTimeText(zone, slide.latest)}`;
  return `${why === '' ? '' : `${why}; `}for a digest at ${localTimeText(zone, closesAt)}${latest}`;
}

async function refuseTooLarge(
  deliveries: readonly Delivery[],
  ports: DigestPorts,
): Promise<{ readonly ended: readonly Delivery[]; readonly fitting: readonly Delivery[] }> {
  const isLarge = ({ intent }: Delivery): boolean => sizeOf(intent) > MAX_DIGEST_CHARACTERS;
  const ended: Delivery[] = [];
  for (const delivery of deliveries.filter(isLarge)) {
    const detail = `its values have ${sizeOf(delivery.intent)} characters, and a digest has at most ${MAX_DIGEST_CHARACTERS}`;
    const next = endUnsent(delivery, 'FAILED', 'cannot_render', detail, momentOf(ports));
    const moved = next && (await moveAndTell(next, ports, { together: true }));
    if (moved) ended.push(moved);
  }
  return { ended, fitting: deliveries.filter((delivery) => !isLarge(delivery)) };
}

/** Each under a token for the head's window, unless it has one that some list may hold; those that others moved are left to them. */
async function collectAll(
  deliveries: readonly Delivery[],
  head: DigestHead,
  detail: string,
  ports: DigestPorts,
): Promise<readonly Held[]> {
  const held = await Promise.all(
    deliveries.map(async (delivery): Promise<Held | null> => {
      if (isHeldFor(head, delivery)) return delivery;
      const collected: Collected = { head: head.id, n: head.n, token: ports.ids.token() };
      const next = collectFor(delivery, collected, detail, momentOf(ports));
      const moved = next && (await moveAndTell(next, ports, { together: true }));
      return moved ? { ...moved, collected } : null;
    }),
  );
  return held.filter((one) => one !== null);
}

const isHeld = (delivery: Delivery): delivery is Held =>
  delivery.state === 'COLLECTED' && delivery.collected !== undefined;

/** For its open window, or on the list that it closed. Another head may be one that an earlier version named otherwise. */
const isHeldFor = (head: DigestHead, delivery: Delivery): delivery is Held =>
  isHeld(delivery) &&
  delivery.collected.head === head.id &&
  (delivery.collected.n === head.n || isClosedWith(head, delivery));

const isClosedWith = ({ closing }: DigestHead, { id, collected }: Held): boolean =>
  closing?.n === collected.n &&
  closing.items.some(({ deliveryId, token }) => deliveryId === id && token === collected.token);
