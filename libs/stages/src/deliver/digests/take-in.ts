import type { Delivery } from '@carillon/domain/deliveries';
import { keepBack, type AttemptPorts } from '../attempt.ts';
import { checkBeforeSend } from '../before-send.ts';
import type { OutcomePorts } from '../outcomes.ts';

/**
 * Processes due deliveries of one digest head without an account. Those that pass all checks before the digest are
 * collected with one write of their head; the others end as their check decides. Returns deliveries that must be sent
 * alone, because the configuration changed.
 */
export async function takeInItems(
  deliveries: readonly Delivery[],
  ports: AttemptPorts & OutcomePorts,
): Promise<readonly Delivery[]> {
  const collected = new Map<string, Delivery[]>();
  const alone: Delivery[] = [];
  const judged = await Promise.all(
    deliveries.map(async (delivery) => ({ delivery, ...(await checkBeforeSend(delivery, ports)) })),
  );
  for (const { delivery, verdict } of judged) {
    if (verdict.kind === 'collect') collected.set(verdict.detail, [...(collected.get(verdict.detail) ?? []), delivery]);
    else if (verdict.kind === 'go') alone.push(delivery);
    else {
      const report = await keepBack(delivery, verdict, ports);
      if ('published' in report) await report.published;
    }
  }
  for (const [why, items] of collected) await ports.collect(items, why);
  return alone;
}
