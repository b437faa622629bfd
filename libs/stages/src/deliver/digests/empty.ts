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
  type ListedItem,
} from '@carillon/domain';
import type { DeliveryId, IntentId } from '@carillon/kernel';
import { publishOutcomes } from '../outcomes.ts';
import { momentOf, type DigestPorts } from './ports.ts';

const MAX_TRIES = 100;
/** Items that are moved at once. */
const AT_ONCE = 50;

/**
 * Closes the open window of a head where it is due, or in any case where it has to make room, and empties what is closed
 * (delivery.md section 2, steps 3 and 4). Whoever meets a closed window helps: every step may be repeated by anybody.
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

/** A delivery that is in the digest, and the slot that the digest has by it. */
type Included = { readonly delivery: Delivery; readonly in: DeliveryId };

async function emptyWindow(head: DigestHead, closing: ClosedWindow, ports: DigestPorts): Promise<void> {
  const { ledger, ids, configuration, digestMade } = ports;
  const keyed = (...parts: readonly string[]): string => ids.keyed(...parts);
  const slotIdOf = (first: IntentId): DeliveryId => digestSlot(head, first, keyed).id;
  const included: Included[] = [];
  let rest = closing.items;
  // The first one that is in it names the digest, so those before it have to be known as left out.
  while (included.length === 0 && rest.length > 0) {
    const [item, ...others] = rest;
    rest = others;
    const one = item && (await moveItem(item, slotIdOf(item.intentId), ports));
    if (one) included.push(one);
  }
  const [first] = included;
  if (first) {
    for (let from = 0; from < rest.length; from += AT_ONCE) {
      const moved = await Promise.all(rest.slice(from, from + AT_ONCE).map((item) => moveItem(item, first.in, ports)));
      included.push(...moved.filter((one) => one !== null));
    }
    // An item that names the digest may have left it since; its intent names the slot all the same.
    const naming = closing.items.find(({ intentId }) => slotIdOf(intentId) === first.in);
    if (!naming) throw new Error(`digest ${first.in} is named by no item of window ${closing.n} of ${head.id}`);
    const pinned = await configuration.at(closing.configNumber);
    const deliveries = included.map(({ delivery }) => delivery);
    const intent = digestIntent(head, closing, naming.intentId, deliveries, pinned, { derive: ids.derive, keyed });
    const digest = openDelivery(intent, '', first.in, momentOf(ports));
    const [answer] = await ledger.insert([digest]);
    if (answer?.inserted) digestMade(digest);
  }
  await endClosing(head, closing.n, ports);
  await publishOutcomes(
    included.map(({ delivery }) => delivery),
    ports,
  );
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
      case 'digested':
        if ((await ports.ledger.replace(emptied.next)) === 'done') return { delivery: emptied.next, in: digest };
    }
  }
}
