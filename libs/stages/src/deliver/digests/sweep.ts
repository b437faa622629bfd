import type { Delivery } from '@carillon/domain/deliveries';
import { listLater } from '@carillon/domain/digests';
import { rewriteDelivery } from '../transition.ts';
import { collectForDigest, headIdOf } from './collect.ts';
import type { DigestPorts } from './ports.ts';

const PAGE = 200;

/**
 * Lists COLLECTED deliveries that are on no list because their collector crashed: one round. Listed ones are marked and
 * not checked again. If a head cannot be written, the error is reported and its deliveries are retried later, so that
 * they do not delay other heads.
 */
export async function listUnlisted(
  ports: DigestPorts,
  trouble: (where: string, error: unknown) => void,
): Promise<number> {
  const unlisted = await ports.ledger.unlisted(ports.clock.now(), PAGE);
  const byHead = new Map<string, Delivery[]>();
  for (const delivery of unlisted) {
    const id = delivery.collected?.head ?? headIdOf(delivery, ports.ids);
    byHead.set(id, [...(byHead.get(id) ?? []), delivery]);
  }
  for (const [head, deliveries] of byHead) {
    try {
      await collectForDigest(deliveries, '', ports);
    } catch (error) {
      trouble(`list items of digest head ${head}`, error);
      await putOff(deliveries, ports);
    }
  }
  return unlisted.length;
}

/** Best effort: deliveries that moved or cannot be written are found again by the next round. */
async function putOff(deliveries: readonly Delivery[], { ledger, clock }: DigestPorts): Promise<void> {
  await Promise.allSettled(
    deliveries.map(async (delivery) => {
      const later = listLater(delivery, clock.now());
      if (later) await rewriteDelivery(delivery, later, ledger);
    }),
  );
}
