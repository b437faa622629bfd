import type { Telemetry } from '@carillon/runtime';
import type { RunWatch } from '../replay/run-child.ts';

/** Counts runs, and records a span of each piece of work on one. */
export function watchRuns({ metrics, spans }: Telemetry): RunWatch {
  const results = {
    done: metrics.replayRuns.with({ result: 'done' }),
    failed: metrics.replayRuns.with({ result: 'failed' }),
    cancelled: metrics.replayRuns.with({ result: 'cancelled' }),
  };
  for (const result of Object.values(results)) result.inc(0);
  return {
    ended: (result) => results[result].inc(),
    begin({ workspace }) {
      const span = spans.start('replay.job', { attributes: { 'carillon.workspace': workspace } });
      return {
        read: (records) => metrics.replayRecords.inc(records),
        childEnded: () => metrics.replayChildEnds.inc(),
        end(result, error) {
          span.setAttribute('carillon.result', result);
          if (error !== undefined) span.fail(error);
          span.end();
        },
      };
    },
  };
}
