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
 * Renews the lease of a running call after each third of its duration, only while the token holds it. If a renewal
 * fails, the sweeper may move the delivery to IN_DOUBT; the provider's answer then ends that.
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
