import type { Delivery } from '@carillon/domain/deliveries';
import { listLater } from '@carillon/domain/digests';
import { rewriteDelivery } from '../transition.ts';
import { collectForDigest, headIdOf } from './collect.ts';
import type { DigestPorts } from './ports.ts';

const PAGE = 200;

/**
 * Lists COLLECTED deliveries that nobody listed, because whoever collected them died in between: one round. Those that
 * are listed are marked so, and not looked at again. A head that cannot be written is told of and looked at later, so that however
 * many there are of these they hold up no other.
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

/** As far as the ledger takes it: what moved meanwhile, or cannot be written either, comes again by itself. */
async function putOff(deliveries: readonly Delivery[], { ledger, clock }: DigestPorts): Promise<void> {
  await Promise.allSettled(
    deliveries.map(async (delivery) => {
      const later = listLater(delivery, clock.now());
      if (later) await rewriteDelivery(delivery, later, ledger);
    }),
  );
}
