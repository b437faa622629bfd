import type { Duration } from '@carillon/kernel';
import type { CheckpointStore, RuleStateStore } from '@carillon/ports';
import type { Progress } from '@carillon/runtime';

export type StateSweeperPorts = {
  readonly checkpoints: Pick<CheckpointStore, 'load'>;
  readonly ruleStates: Pick<RuleStateStore, 'sweep'>;
  /** The partitions that this process holds. */
  readonly progress: Pick<Progress, 'caughtUp'>;
};

/** States are forgotten at midnight (UTC), so an hour more changes little. */
export const SWEEP_INTERVAL: Duration = 3_600_000;
/** States that are removed in one write. */
const BATCH_SIZE = 500;

/**
 * Returns a round that removes the states which their streams remember no longer. The saved watermark of their partition counts, because
 * no record that is still to be evaluated finds them. Partitions that are behind are left to a later round.
 */
export function createStateSweeper({ checkpoints, ruleStates, progress }: StateSweeperPorts): () => Promise<void> {
  return async () => {
    for (const { partition } of progress.caughtUp()) {
      const checkpoint = await checkpoints.load('engine', 'carillon.events', partition);
      if (checkpoint === null) continue;
      for (;;) {
        const removed = await ruleStates.sweep(partition, checkpoint.watermark, BATCH_SIZE);
        if (removed < BATCH_SIZE) break;
      }
    }
  };
}
