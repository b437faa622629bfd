import { CONFIGURATION_FRESH_FOR } from '@carillon/gateway';
import { TERMINAL_STATES, type DeliveryState } from '@carillon/domain';
import type { Clock } from '@carillon/ports';
import type { HealthSources } from '@carillon/runtime';
import type { FollowedConfiguration } from '@carillon/stages';
import type { Backend } from './backend.ts';
import type { Watches } from './watches.ts';

const OPEN_STATES: readonly DeliveryState[] = ['WAITING', 'SENDING', 'IN_DOUBT'];

/** What `/readyz` and `/metrics` say about this process. Gauges are read when somebody asks. */
export function createHealth(
  { telemetry }: Watches,
  backend: Backend,
  configuration: Pick<FollowedConfiguration, 'current' | 'readToEndAt' | 'stoppedBefore'>,
  clock: Clock,
  /** One role of many tells the counts of the ledger, or a sum over processes would count each delivery often. */
  tellsDeliveries: boolean,
): Required<HealthSources> {
  const { metrics } = telemetry;
  const countDeliveries = createCount(() => backend.ledger.countByState());
  const age = (): number => clock.now() - configuration.readToEndAt();
  const readAgo = (): string => `read to its end ${Math.max(0, Math.round(age()))} ms ago`;
  return {
    checks: () => [
      {
        name: 'configuration',
        ok: configuration.stoppedBefore() === null && age() <= CONFIGURATION_FRESH_FOR,
        detail: configuration.stoppedBefore() ?? readAgo(),
      },
      ...backend.readiness(),
    ],
    async metrics() {
      if (tellsDeliveries) {
        // While the stores are away the other numbers are wanted most. An old count would pass for a new one.
        const counts = await countDeliveries().catch(() => null);
        for (const state of [...OPEN_STATES, ...TERMINAL_STATES]) {
          const gauge = metrics.deliveries.with({ state });
          if (counts === null) gauge.remove();
          else gauge.set(counts[state] ?? 0);
        }
      }
      metrics.configNumber.set(configuration.current().number);
      metrics.configAgeSeconds.set(age() / 1000);
      return telemetry.metricsText();
    },
  };
}

/** Share of the time that counting may take, where whoever reads the numbers asks for them all the time. */
const COUNTING_SHARE = 0.01;

/** Counts again only after a hundred times what the last count took: one of many millions takes the database a while. */
export function createCount<Counts>(count: () => Promise<Counts>, now: () => number = () => performance.now()) {
  let kept: { readonly counts: Promise<Counts>; until: number } | null = null;
  return function read(): Promise<Counts> {
    const began = now();
    if (kept && began < kept.until) return kept.counts;
    const counts = count();
    const mine = { counts, until: Number.POSITIVE_INFINITY };
    kept = mine;
    void counts.then(
      () => (mine.until = now() + (now() - began) / COUNTING_SHARE),
      () => (kept = kept === mine ? null : kept),
    );
    return counts;
  };
}
