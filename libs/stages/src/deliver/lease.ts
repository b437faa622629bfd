import { renewLease, type Delivery } from '@carillon/domain/deliveries';
import type { Duration } from '@carillon/kernel';
import type { Clock, DeliveryLedger } from '@carillon/ports';
import { rewriteDelivery } from './transition.ts';

type LeasePorts = {
  readonly ledger: DeliveryLedger;
  readonly clock: Clock;
  readonly pause: (span: Duration) => Promise<void>;
};

/**
 * Renews the lease of a call under way every third of it. It only ever lengthens a lease that the token still holds;
 * when a renewal fails, the sweeper may call it a doubt, which the answer then ends.
 */
export function holdLease(
  sending: Delivery,
  token: string,
  span: Duration,
  { ledger, clock, pause }: LeasePorts,
): { stop(): Promise<void> } {
  let stopped = false;
  let wake: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => {
    wake = resolve;
  });

  async function renew(): Promise<void> {
    while (!stopped) {
      await Promise.race([pause(span / 3), ended]);
      if (stopped) return;
      const seen = await ledger.get(sending.id).catch(() => null);
      const longer = seen && renewLease(seen, token, clock.now() + span, clock.now());
      if (seen && !longer) return;
      if (seen && longer) await rewriteDelivery(seen, longer, ledger).catch(() => 'stale');
    }
  }
  const running = renew();

  return {
    async stop() {
      stopped = true;
      wake();
      await running;
    },
  };
}
