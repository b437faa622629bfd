import type { Delivery } from '@carillon/domain/deliveries';
import { digestOf } from '@carillon/domain/digests';
import type { DeliveryId } from '@carillon/kernel';
import type { DeliveryLedger } from '@carillon/ports';
import { rewriteDelivery } from '../transition.ts';
import { momentOf, type DigestPorts } from './ports.ts';

type RecheckPorts = Pick<DigestPorts, 'ledger' | 'clock' | 'ids'>;

/**
 * Returns a digest for an operator's resend without items whose slot another intent holds by now. Rewrites each
 * remaining item, so that a concurrent take-over of its slot fails and then sees the resend. Null if no item remains.
 * Undefined if the digest changed meanwhile.
 */
export async function recheckDigest(digest: Delivery, ports: RecheckPorts): Promise<Delivery | null | undefined> {
  const { intent, id } = digest;
  if (intent.digest?.recheck !== true) return digest;
  const kept = new Set<DeliveryId>();
  for (const { deliveryId } of intent.digest.items) {
    if (await keepItem(deliveryId, id, ports)) kept.add(deliveryId);
  }
  const left = digestOf(intent, ({ deliveryId }) => kept.has(deliveryId));
  if (left === null) return null;
  const next = { ...digest, intent: left, version: digest.version + 1, updatedAt: momentOf(ports).now };
  return (await rewriteDelivery(digest, next, ports.ledger)) === 'done' ? next : undefined;
}

async function keepItem(id: DeliveryId, digest: DeliveryId, { ledger }: { readonly ledger: DeliveryLedger }) {
  for (;;) {
    const item = await ledger.get(id);
    if (item?.state !== 'DIGESTED' || item.digestedIn !== digest) return false;
    if ((await rewriteDelivery(item, { ...item, version: item.version + 1 }, ledger)) === 'done') return true;
  }
}
