import { CONFIGURATION_FRESH_FOR } from '@carillon/gateway';
import { DELIVERY_STATES } from '@carillon/domain/deliveries';
import { leavingLetters } from '@carillon/domain/events';
import type { Clock, DeliveryLedger, ReadModels } from '@carillon/ports';
import type { HealthSources, ReadinessCheck } from '@carillon/runtime';
import type { FollowedConfiguration } from '@carillon/stages';
import type { RoleName } from '../run/role-names.ts';
import type { Backend } from './backend.ts';
import { deadLettersKept } from './dead-letters-kept.ts';
import { DATA_FILE } from './embedded-backend.ts';
import { memoryChecks } from './memory-limit.ts';
import type { ProcessSettings } from './settings.ts';
import type { Watches } from './telemetry-bindings.ts';

/**
 * Events need the log (Kafka, or the data file of this machine) and a fresh configuration, which comes from the log: without the
 * rest the gateway still takes them.
 */
const DECIDE_FOR_GATEWAY: ReadonlySet<string> = new Set(['configuration', 'Kafka', DATA_FILE]);

/** Creates the sources of `/readyz` and `/metrics` of each role. Gauges are read on request. */
export function createHealth(
  { watches, backend, configuration, clock, settings }: HealthGround,
  /** True for one role only, because a sum over processes would count each delivery several times. */
  tellsDeliveries: boolean,
): (role: RoleName) => Required<HealthSources> {
  const { telemetry } = watches;
  const { metrics } = telemetry;
  const countDeliveries = createCount(() => backend.ledger.countByState());
  const countLeaving = createCount(() => countLeavingLetters({ backend, configuration, clock }));
  const age = (): number => clock.now() - configuration.readToEndAt();
  const readAgo = (): string => `read to its end ${Math.max(0, Math.round(age()))} ms ago`;
  const checks = (): readonly ReadinessCheck[] => [
    {
      name: 'configuration',
      ok: configuration.stoppedBefore() === null && age() <= CONFIGURATION_FRESH_FOR,
      detail: configuration.stoppedBefore() ?? readAgo(),
    },
    ...backend.readiness(),
    ...watches.facts(),
    standing(watches.stopped()),
    ...memoryChecks(),
  ];
  async function readMetrics(): Promise<string> {
    if (tellsDeliveries) {
      // While the stores are away the other numbers are wanted most. An old count would pass for a new one.
      const counts = await countDeliveries().catch(() => null);
      for (const state of DELIVERY_STATES) {
        const gauge = metrics.deliveries.with({ state });
        if (counts === null) gauge.remove();
        else gauge.set(counts[state] ?? 0);
      }
    }
    if (tellsDeliveries && backend.kind === 'cluster') {
      const leaving = await countLeaving().catch(() => null);
      if (leaving === null) metrics.deadLettersLeaving.remove();
      else metrics.deadLettersLeaving.set(leaving);
    }
    metrics.configNumber.set(configuration.current().number);
    metrics.configAgeSeconds.set(age() / 1000);
    return telemetry.metricsText();
  }
  return (role) => ({
    checks: () =>
      checks().map((one) =>
        role !== 'gateway' || DECIDE_FOR_GATEWAY.has(one.name) ? one : { ...one, decides: false },
      ),
    metrics: readMetrics,
    healthToken: settings.healthToken,
  });
}

type HealthGround = {
  readonly watches: Pick<Watches, 'telemetry' | 'stopped' | 'facts'>;
  readonly backend: {
    readonly ledger: Pick<DeliveryLedger, 'countByState'>;
    readonly readModels: Pick<ReadModels, 'deadLetters'>;
  } & Pick<Backend, 'readiness' | 'kind' | 'defaultRetention'>;
  readonly configuration: Pick<FollowedConfiguration, 'current' | 'readToEndAt' | 'stoppedBefore'>;
  readonly clock: Clock;
  readonly settings: Pick<ProcessSettings, 'healthToken'>;
};

const MAX_LEAVING = 500;

async function countLeavingLetters({
  backend,
  configuration,
  clock,
}: Pick<HealthGround, 'backend' | 'configuration' | 'clock'>): Promise<number> {
  const range = leavingLetters(deadLettersKept({ backend, configuration }), clock.now());
  if (range === null) return 0;
  return (await backend.readModels.deadLetters({ open: true, ...range }, MAX_LEAVING)).items.length;
}

/** Stays not ready until the process restarts. No other process reads these partitions, and the log says what to do. */
const standing = (stopped: readonly string[]): ReadinessCheck => ({
  name: 'partitions',
  ok: stopped.length === 0,
  detail:
    stopped.length === 0
      ? 'all partitions advance'
      : `stopped until a person acts; the log has the reason: ${stopped.join(', ')}`,
});

/** Share of time that counting may take if metrics are requested continuously. */
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
