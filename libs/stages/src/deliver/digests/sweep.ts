import type { Delivery } from '@carillon/domain';
import { collectForDigest, headIdOf } from './collect.ts';
import type { DigestPorts } from './ports.ts';

const PAGE = 200;

/**
 * Lists COLLECTED deliveries that nobody listed, because whoever collected them died in between: one round. Those that
 * are listed are marked so, and not looked at again. A head that cannot be written is told of, and holds up no other.
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
    await collectForDigest(deliveries, '', ports).catch((error: unknown) =>
      trouble(`list items of digest head ${head}`, error),
    );
  }
  return unlisted.length;
}
