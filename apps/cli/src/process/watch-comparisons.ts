import type { Telemetry } from '@carillon/runtime';
import type { ComparisonWatch } from '../replay/comparison.ts';

/** Counts comparisons, and records a span of each. */
export function watchComparisons({ metrics, spans }: Telemetry): ComparisonWatch {
  const results = {
    done: metrics.replayRuns.with({ result: 'done' }),
    failed: metrics.replayRuns.with({ result: 'failed' }),
    stopped: metrics.replayRuns.with({ result: 'stopped' }),
  };
  for (const result of Object.values(results)) result.inc(0);
  return {
    begin({ workspace }) {
      const span = spans.start('replay.job', { attributes: { 'carillon.workspace': workspace } });
      return {
        read: (records) => metrics.replayRecords.inc(records),
        childEnded: () => metrics.replayChildEnds.inc(),
        end(result, error) {
          results[result].inc();
          span.setAttribute('carillon.result', result);
          if (error !== undefined) span.fail(error);
          span.end();
        },
      };
    },
  };
}
