import type { Delivery } from '@carillon/domain';
import { collectForDigest, headIdOf } from './collect.ts';
import type { DigestPorts } from './ports.ts';

const PAGE = 200;

/**
 * Lists COLLECTED deliveries that nobody listed, because whoever collected them died in between: one round. Those that
 * are listed are marked so, and not looked at again.
 */
export async function listUnlisted(ports: DigestPorts): Promise<number> {
  const unlisted = await ports.ledger.unlisted(ports.clock.now(), PAGE);
  const byHead = new Map<string, Delivery[]>();
  for (const delivery of unlisted) {
    const id = delivery.collected?.head ?? headIdOf(delivery, ports.ids);
    byHead.set(id, [...(byHead.get(id) ?? []), delivery]);
  }
  for (const deliveries of byHead.values()) await collectForDigest(deliveries, '', ports);
  return unlisted.length;
}
