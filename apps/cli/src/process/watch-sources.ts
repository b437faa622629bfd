import type { SourceState } from '@carillon/domain/changes';
import type { EngineWatch } from '@carillon/engine';
import type { Clock } from '@carillon/ports';
import type { Logger, Telemetry } from '@carillon/runtime';
import type { ChangeResult } from '@carillon/stages';

type SourceWatch = Pick<EngineWatch, 'sourceState' | 'sourceLeft' | 'sourceChanges' | 'sourceReset'>;
const RESULTS = Object.keys({ appended: 0, without_key: 0, dead_letter: 0, skipped: 0 } satisfies Record<
  ChangeResult,
  0
>);
type Labels = { readonly state: SourceState['kind']; readonly reason: string };

/** Binds what the engine reports of sources to metrics and log. A change of state is logged once. */
export function watchSources({ metrics }: Telemetry, logger: Logger, clock: Clock): SourceWatch {
  const shown = new Map<string, Labels>();
  return {
    sourceState(integration, { state, readUntil, lagBytes, lagRecords }) {
      const labels = { state: state.kind, reason: 'reason' in state ? state.reason : '' };
      const before = shown.get(integration);
      const isNew = before?.state !== labels.state || before.reason !== labels.reason;
      // A counter that appears with its first event did not grow, as Prometheus sees it.
      if (!before) for (const result of RESULTS) metrics.sourceChanges.with({ integration, result }).inc(0);
      if (isNew && before) metrics.sourceState.with({ integration, ...before }).set(0);
      metrics.sourceState.with({ integration, ...labels }).set(1);
      shown.set(integration, labels);
      if (readUntil !== null) {
        // A source that was read to its end has no lag, even if its newest change is old.
        const isWhole = state.kind === 'running' && (lagRecords ?? lagBytes) === 0;
        const lag = isWhole ? 0 : Math.max(0, clock.now() - readUntil);
        metrics.sourceLagSeconds.with({ integration }).set(lag / 1000);
      }
      if (lagBytes !== null) metrics.sourceLagBytes.with({ integration }).set(lagBytes);
      if (lagRecords !== null) metrics.sourceLagRecords.with({ integration }).set(lagRecords);
      if (isNew) logState(logger, integration, state);
    },
    sourceLeft(integration) {
      const labels = shown.get(integration);
      if (!labels) return;
      shown.delete(integration);
      metrics.sourceState.with({ integration, ...labels }).remove();
      metrics.sourceLagSeconds.with({ integration }).remove();
      metrics.sourceLagBytes.with({ integration }).remove();
      metrics.sourceLagRecords.with({ integration }).remove();
    },
    sourceChanges: (integration, result, count) => metrics.sourceChanges.with({ integration, result }).inc(count),
    sourceReset: (integration, detail) =>
      logger.warn({ resource: `integration ${integration}`, detail }, 'a source was reset'),
  };
}

function logState(logger: Logger, integration: string, state: SourceState): void {
  const resource = `integration ${integration}`;
  if (state.kind === 'running') return logger.info({ resource }, 'a source is read');
  const detail = state.detail ?? undefined;
  const facts = { resource, ...(detail !== undefined && { detail }) };
  if (state.kind === 'leaving') return logger.warn(facts, 'the slot of a removed database could not be dropped');
  const coded = { ...facts, code: state.reason };
  if (state.kind === 'waiting') return logger.warn(coded, 'a source cannot be read yet: it is tried again');
  logger.error(coded, 'a source is not read until a person resets it: carillon sources');
}
