import { localTimeText } from '@carillon/domain/cadence';
import { localityOf } from '@carillon/domain/configuration';
import { findNotification, endUnsent, type Delivery } from '@carillon/domain/deliveries';
import {
  collectFor,
  digestSettings,
  emptyHead,
  extendedBy,
  headParts,
  itemOf,
  knownListed,
  listItems,
  MAX_DIGEST_CHARACTERS,
  mustClose,
  openedNow,
  sizeOf,
  type Collected,
  type DigestHead,
  type DigestSettings,
  type WindowEnd,
} from '@carillon/domain/digests';
import type { DeliveryId } from '@carillon/kernel';
import type { Ids } from '@carillon/ports';
import { publish, publishTogether, transitionAndPublish, type PublicationBatch } from '../transition.ts';
import { closeWindows } from './empty.ts';
import { momentOf, type DigestPorts } from './ports.ts';

/** Tries of a compare-and-set on the head. Afterwards the sweeper lists the COLLECTED deliveries. */
const MAX_TRIES = 100;

export const headIdOf = (delivery: Delivery, ids: Pick<Ids, 'keyed'>): string =>
  `dgh_${ids.keyed(...headParts(delivery.intent))}`;

type Held = Delivery & { readonly collected: Collected };

/**
 * Adds deliveries of one head to its open window (docs/internals/digests.md, steps 1 and 2). They are WAITING, or
 * COLLECTED and not listed. Each is moved to COLLECTED before it is listed, so that after a crash the sweeper finds it.
 * Deliveries that others moved are skipped. Returns the deliveries that are listed now or ended because they are too
 * large.
 */
export async function collectForDigest(
  deliveries: readonly Delivery[],
  why: string,
  ports: DigestPorts,
): Promise<readonly Delivery[]> {
  const [first] = deliveries;
  const settings = first && settingsFor(first, ports);
  if (!first || !settings) return [];
  const listed = new Map<DeliveryId, Held>();
  const { tooLarge, full } = await publishTogether(
    ports,
    async (batch) => {
      const { ended, fitting } = await refuseTooLarge(deliveries, ports, batch);
      return { tooLarge: ended, full: await listUnderHead(fitting, { why, settings, listed, batch }, ports) };
    },
    (delivery) => knownListed(delivery, listed.get(delivery.id)?.collected.token ?? ''),
  );
  // A window that reached its maximum of items is closed here at once. All other windows are closed by a timer.
  if (full) await closeWindows(full, true, ports);
  return [...listed.values(), ...tooLarge];
}

type Listing = {
  readonly why: string;
  readonly settings: DigestSettings;
  /** Deliveries on their window's list. `listUnderHead` adds to it. */
  readonly listed: Map<DeliveryId, Held>;
  readonly batch: PublicationBatch;
};

/** Collects and lists deliveries of one head until none is left. Returns the head if its window is full. */
async function listUnderHead(
  deliveries: readonly Delivery[],
  { why, settings, listed, batch }: Listing,
  ports: DigestPorts,
): Promise<DigestHead | null> {
  const { digestHeads, ids, clock } = ports;
  const { maxItems, window } = settings;
  let open = deliveries;
  let full: DigestHead | null = null;
  let isInDoubt = false;
  for (let tries = 0; ; tries += 1) {
    const [first] = open;
    if (!first) return full;
    const headId = headIdOf(first, ids);
    if (tries === MAX_TRIES) throw new Error(`the digest head ${headId} keeps changing`);
    const head = (await digestHeads.get(headId)) ?? emptyHead(headId, first.slot);
    if (mustClose(head, sizeOf(first.intent), maxItems, clock.now())) {
      await closeWindows(head, true, ports);
      continue;
    }
    const opened = openedNow(window, zoneOf(first, ports), clock.now());
    const held = await collectAll(open, head, words(head, opened, first, why, ports), { batch, ports });
    const { next, listed: tokens } = listItems(head, held.map(placed), { opened, maxItems }, clock.now());
    if (next) {
      const written = await digestHeads.replace(next).catch((error: unknown) => ({ error }));
      // If only the response was lost, the next try finds the items on the list. A second failure is an outage of the
      // store.
      if (typeof written === 'object' && isInDoubt) throw written.error;
      isInDoubt = typeof written === 'object';
      if (written !== 'done') {
        open = held;
        continue;
      }
      if (mustClose(next, 0, maxItems, clock.now())) full = next;
    }
    for (const delivery of held.filter(({ collected }) => tokens.has(collected.token))) {
      listed.set(delivery.id, delivery);
      publish(delivery, ports, batch);
    }
    open = held.filter(({ collected }) => !tokens.has(collected.token));
  }
}

const placed = (held: Held) => ({ item: itemOf(held), n: held.collected.n });

/**
 * Returns the digest settings of the newest configuration. If digests were switched off, COLLECTED deliveries end as
 * they began.
 */
function settingsFor(delivery: Delivery, { configuration }: DigestPorts): DigestSettings | null {
  const notification = findNotification(configuration.current(), delivery.slot);
  const settings = notification ? digestSettings(notification.body) : null;
  return settings ?? (delivery.state === 'COLLECTED' ? SWITCHED_OFF : null);
}

/** Settings for collected items after digests were switched off: the window ends at once. */
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
  batch: PublicationBatch,
): Promise<{ readonly ended: readonly Delivery[]; readonly fitting: readonly Delivery[] }> {
  const isLarge = ({ intent }: Delivery): boolean => sizeOf(intent) > MAX_DIGEST_CHARACTERS;
  const ended: Delivery[] = [];
  for (const delivery of deliveries.filter(isLarge)) {
    const detail = `its values have ${sizeOf(delivery.intent)} characters, and a digest has at most ${MAX_DIGEST_CHARACTERS}`;
    const next = endUnsent(delivery, 'FAILED', 'cannot_render', detail, momentOf(ports));
    const moved = next && (await transitionAndPublish(next, ports, { together: true, batch }));
    if (moved) ended.push(moved.delivery);
  }
  return { ended, fitting: deliveries.filter((delivery) => !isLarge(delivery)) };
}

/**
 * Moves each delivery to COLLECTED with a token of the head's window, unless it has one that is possibly listed. Skips
 * deliveries that others moved.
 */
async function collectAll(
  deliveries: readonly Delivery[],
  head: DigestHead,
  detail: string,
  { batch, ports }: { readonly batch: PublicationBatch; readonly ports: DigestPorts },
): Promise<readonly Held[]> {
  const held = await Promise.all(
    deliveries.map(async (delivery): Promise<Held | null> => {
      if (isHeldFor(head, delivery)) return delivery;
      const collected: Collected = { head: head.id, n: head.n, token: ports.ids.token() };
      const next = collectFor(delivery, collected, detail, momentOf(ports));
      const moved = next && (await transitionAndPublish(next, ports, { together: true, batch }));
      return moved ? { ...moved.delivery, collected } : null;
    }),
  );
  return held.filter((one) => one !== null);
}

const isHeld = (delivery: Delivery): delivery is Held =>
  delivery.state === 'COLLECTED' && delivery.collected !== undefined;

/**
 * Returns true if the delivery belongs to the head's open window or is on the list of the closed one. An earlier
 * version may have named the head differently.
 */
const isHeldFor = (head: DigestHead, delivery: Delivery): delivery is Held =>
  isHeld(delivery) &&
  delivery.collected.head === head.id &&
  (delivery.collected.n === head.n || isClosedWith(head, delivery));

const isClosedWith = ({ closing }: DigestHead, { id, collected }: Held): boolean =>
  closing?.n === collected.n &&
  closing.items.some(({ deliveryId, token }) => deliveryId === id && token === collected.token);
