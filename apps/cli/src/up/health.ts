import type { Embedded } from '@carillon/adapter-embedded';
import { TERMINAL_STATES, type DeliveryState } from '@carillon/domain';
import type { Clock, ConfigurationView } from '@carillon/ports';
import type { HealthSources } from '@carillon/runtime';
import type { Watches } from './watches.ts';

/** Configuration that was not read to its end for this long makes the process not ready. */
const FRESH_FOR = 2_000;
const OPEN_STATES: readonly DeliveryState[] = ['WAITING', 'SENDING', 'IN_DOUBT'];

/** What `/readyz` and `/metrics` say about this process. Gauges are read when somebody asks. */
export function createHealth(
  { telemetry }: Watches,
  data: Embedded,
  configuration: ConfigurationView,
  clock: Clock,
): HealthSources {
  const { metrics } = telemetry;
  const age = (): number => clock.now() - configuration.readToEndAt();
  return {
    checks: () => [
      {
        name: 'configuration',
        ok: age() <= FRESH_FOR,
        detail: `read to its end ${Math.max(0, Math.round(age()))} ms ago`,
      },
    ],
    async metrics() {
      const counts = await data.ledger.countByState();
      for (const state of [...OPEN_STATES, ...TERMINAL_STATES])
        metrics.deliveries.with({ state }).set(counts[state] ?? 0);
      metrics.configNumber.set(configuration.current().number);
      metrics.configAgeSeconds.set(age() / 1000);
      return telemetry.metricsText();
    },
  };
}
