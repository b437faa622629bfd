import {
  closeWindow,
  digestIntent,
  digestItem,
  digestSlot,
  openDelivery,
  windowEmptied,
  type ClosedWindow,
  type Delivery,
  type DigestHead,
  type DigestNaming,
  type ListedItem,
} from '@carillon/domain';
import { stringifyJson, type DeliveryId } from '@carillon/kernel';
import { moveAndTell, publishOutcomes } from '../outcomes.ts';
import { momentOf, type DigestPorts } from './ports.ts';

const MAX_TRIES = 100;
/** Items that are moved at once. */
const AT_ONCE = 50;

/**
 * Closes the open window of a head where it is due, or in any case where it has to make room, and empties what is closed
 * (docs/internals/digests.md, steps 3 and 4). Whoever meets a closed window helps: every step may be repeated by anybody.
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

/** A delivery that is in a digest of this window, and which one. */
type Included = { readonly delivery: Delivery; readonly in: DeliveryId };

/**
 * A digest is made of items that are moved into it while it is not in the ledger. All are moved before it is inserted, so
 * an item that is still COLLECTED beside a digest that stands was not told by it: a restore brought that one from a newer folder.
 */
async function emptyWindow(head: DigestHead, closing: ClosedWindow, ports: DigestPorts): Promise<void> {
  const { ledger, ids, configuration, digestMade } = ports;
  const keyed = (...parts: readonly string[]): string => ids.keyed(...parts);
  const included: Included[] = [];
  const toldBefore: Delivery[] = [];
  let rest = closing.items;
  // The first one that is in it names the digest, so those before it have to be known as left out, or as told.
  while (included.length === 0 && rest.length > 0) {
    const [item, ...others] = rest;
    rest = others;
    const one = item && (await moveItem(item, await freeSlot(head, item, ports), ports));
    if (!one) continue;
    if (await ledger.get(one.in)) toldBefore.push(one.delivery);
    else included.push(one);
  }
  const [first] = included;
  if (first) {
    for (let from = 0; from < rest.length; from += AT_ONCE) {
      const moved = await Promise.all(rest.slice(from, from + AT_ONCE).map((item) => moveItem(item, first.in, ports)));
      for (const one of moved) {
        if (one?.in === first.in) included.push(one);
        else if (one) toldBefore.push(one.delivery);
      }
    }
    const naming = namingOf(head, closing, first.in, keyed);
    const pinned = await configuration.at(closing.configNumber);
    const deliveries = included.map(({ delivery }) => delivery);
    const intent = digestIntent(head, closing, naming, deliveries, pinned, { derive: ids.derive, keyed });
    const digest = openDelivery(intent, '', first.in, momentOf(ports));
    const [answer] = await ledger.insert([digest]);
    if (answer?.inserted) digestMade({ delivery: digest, bytes: stringifyJson(digest).length });
  }
  await endClosing(head, closing.n, ports);
  await publishOutcomes([...toldBefore, ...included.map(({ delivery }) => delivery)], ports);
}

/** The slot that an item gives its digest, in which nothing stands. It is looked at before the item is read, see `emptyWindow`. */
async function freeSlot(head: DigestHead, { intentId }: ListedItem, { ledger, ids }: DigestPorts): Promise<DeliveryId> {
  for (let nth = 1; nth <= MAX_TRIES; nth += 1) {
    const { id } = digestSlot(head, { intentId, nth }, (...parts) => ids.keyed(...parts));
    if (!(await ledger.get(id))) return id;
  }
  throw new Error(`${MAX_TRIES} digests are named by intent ${intentId} of ${head.id}`);
}

/** An item that names the digest may have left it since; its intent names the slot all the same. */
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

/** Null: it is not in this digest, and never will be. */
async function moveItem(item: ListedItem, digest: DeliveryId, ports: DigestPorts): Promise<Included | null> {
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
        const moved = await moveAndTell(emptied.next, ports, { together: true });
        if (moved) return { delivery: moved, in: digest };
      }
    }
  }
}
