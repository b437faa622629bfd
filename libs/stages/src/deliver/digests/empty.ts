import { openDelivery, type Delivery } from '@carillon/domain/deliveries';
import {
  closeWindow,
  digestIntent,
  digestItem,
  digestSlot,
  windowEmptied,
  type ClosedWindow,
  type DigestHead,
  type DigestNaming,
  type ListedItem,
} from '@carillon/domain/digests';
import { stringifyJson, type DeliveryId } from '@carillon/kernel';
import {
  insertAndPublish,
  publish,
  publishTogether,
  transitionAndPublish,
  type PublicationBatch,
} from '../transition.ts';
import { momentOf, type DigestPorts } from './ports.ts';

const MAX_TRIES = 100;
/** Items that are moved concurrently. */
const BATCH_SIZE = 50;

/**
 * Closes the open window of a head if it is due or full, and empties closed windows (docs/internals/digests.md, steps 3
 * and 4). Every process that finds a closed window helps, because all steps are idempotent.
 */
export async function closeWindows(seen: DigestHead, makeRoom: boolean, ports: DigestPorts): Promise<void> {
  const { digestHeads, clock, configuration } = ports;
  const wanted = makeRoom ? seen.n : null;
  let head: DigestHead | null = seen;
  for (let tries = 0; head; tries += 1) {
    if (tries === MAX_TRIES) throw new Error(`the digest head ${seen.id} keeps changing`);
    if (head.closing) await emptyWindow(head, head.closing, ports);
    else {
      const isDue = head.end !== null && head.end.closesAt <= clock.now();
      const next =
        isDue || head.n === wanted ? closeWindow(head, configuration.current().number, clock.now()) : undefined;
      if (!next) return;
      await digestHeads.replace(next);
    }
    head = await digestHeads.get(seen.id);
  }
}

/** A delivery with the digest of this window that includes it. */
type Included = { readonly delivery: Delivery; readonly in: DeliveryId };

/**
 * Moves items into a digest, then inserts the digest into the ledger. Therefore an item that is still COLLECTED while
 * its digest exists was not part of that digest: it was restored from a newer folder.
 */
async function emptyWindow(head: DigestHead, closing: ClosedWindow, ports: DigestPorts): Promise<void> {
  await publishTogether(ports, async (batch) => {
    const items = await includeItems(head, closing, batch, ports);
    if (items) await insertDigest(head, closing, items, batch, ports);
    await endClosing(head, closing.n, ports);
  });
}

type DigestItems = { readonly digest: DeliveryId; readonly deliveries: readonly Delivery[] };

/** Moves the items of a closed window into a digest that is not in the ledger yet. Null if no item is left. */
async function includeItems(
  head: DigestHead,
  closing: ClosedWindow,
  batch: PublicationBatch,
  ports: DigestPorts,
): Promise<DigestItems | null> {
  const { items } = closing;
  const move = async (item: ListedItem, digest: DeliveryId): Promise<Included | null> => {
    const included = await moveItem(item, digest, batch, ports);
    // An item moved before a crash may still have an unpublished outcome.
    if (included) publish(included.delivery, ports, batch);
    return included;
  };
  for (const [index, item] of items.entries()) {
    const first = await move(item, await freeSlot(head, item, ports));
    // A digest is named by its first item, so earlier items must be known as skipped or as part of an earlier digest.
    if (!first || (await ports.ledger.get(first.in))) continue;
    const included = [first];
    for (let from = index + 1; from < items.length; from += BATCH_SIZE) {
      const moved = await Promise.all(items.slice(from, from + BATCH_SIZE).map((other) => move(other, first.in)));
      included.push(...moved.filter((other) => other !== null).filter((other) => other.in === first.in));
    }
    return { digest: first.in, deliveries: included.map(({ delivery }) => delivery) };
  }
  return null;
}

async function insertDigest(
  head: DigestHead,
  closing: ClosedWindow,
  { digest, deliveries }: DigestItems,
  batch: PublicationBatch,
  ports: DigestPorts,
): Promise<void> {
  const { ids, configuration, digestMade } = ports;
  const keyed = (...parts: readonly string[]): string => ids.keyed(...parts);
  const naming = namingOf(head, closing, digest, keyed);
  const pinned = await configuration.at(closing.configNumber);
  const intent = digestIntent(head, closing, { naming, included: deliveries }, pinned, { derive: ids.derive, keyed });
  const delivery = openDelivery(intent, '', digest, momentOf(ports));
  const [answer] = await insertAndPublish([delivery], ports, batch);
  if (answer?.inserted) digestMade({ delivery, bytes: stringifyJson(delivery).length });
}

/** Returns an empty slot for a digest named by this item. It is read before the item, see `emptyWindow`. */
async function freeSlot(head: DigestHead, { intentId }: ListedItem, { ledger, ids }: DigestPorts): Promise<DeliveryId> {
  for (let nth = 1; nth <= MAX_TRIES; nth += 1) {
    const { id } = digestSlot(head, { intentId, nth }, (...parts) => ids.keyed(...parts));
    if (!(await ledger.get(id))) return id;
  }
  throw new Error(`${MAX_TRIES} digests are named by intent ${intentId} of ${head.id}`);
}

/** An item that names the digest may have left it; its intent still determines the slot. */
function namingOf(
  head: DigestHead,
  { n, items }: ClosedWindow,
  digest: DeliveryId,
  keyed: (...parts: readonly string[]) => string,
): DigestNaming {
  for (let nth = 1; nth <= MAX_TRIES; nth += 1) {
    const item = items.find(({ intentId }) => digestSlot(head, { intentId, nth }, keyed).id === digest);
    if (item) return { intentId: item.intentId, nth };
  }
  throw new Error(`digest ${digest} is named by no item of window ${n} of ${head.id}`);
}

async function endClosing(seen: DigestHead, n: number, { digestHeads, clock }: DigestPorts): Promise<void> {
  let head: DigestHead | null = seen;
  for (let tries = 0; head && tries < MAX_TRIES; tries += 1) {
    const next = windowEmptied(head, n, clock.now());
    if (!next || (await digestHeads.replace(next)) === 'done') return;
    head = await digestHeads.get(seen.id);
  }
}

/** Null if the item is not in this digest and never will be. */
async function moveItem(
  item: ListedItem,
  digest: DeliveryId,
  batch: PublicationBatch,
  ports: DigestPorts,
): Promise<Included | null> {
  for (;;) {
    const seen = await ports.ledger.get(item.deliveryId);
    const emptied = seen && digestItem(seen, item, digest, momentOf(ports));
    switch (emptied?.kind) {
      case undefined:
      case 'left_out':
        return null;
      case 'is_digested':
        return seen && { delivery: seen, in: seen.digestedIn ?? digest };
      case 'digested': {
        const moved = await transitionAndPublish(emptied.next, ports, { together: true, batch });
        if (moved) return { delivery: moved.delivery, in: digest };
      }
    }
  }
}
