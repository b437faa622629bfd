import type { LogId } from '@carillon/kernel';
import { readWatermark, type Checkpoint, type CheckpointStore } from '@carillon/ports';
import type { Attempt } from '../attempts.ts';
import type { Collections } from '../collections.ts';
import { upsertGuarded } from '../compare-and-set.ts';
import { keyOf, type CheckpointDocument } from '../documents.ts';
import { RetryFromStart } from '../failures.ts';

const checkpointOf = (found: CheckpointDocument): Checkpoint => ({
  group: found.group,
  topic: found.topic,
  partition: found.partition,
  logId: found.logId as LogId,
  next: found.next,
  watermark: readWatermark(found.clocks),
  configNumber: found.configNumber,
});

export const createCheckpointStore = ({ checkpoints }: Collections, attempt: Attempt): CheckpointStore => ({
  async load(group, topic, partition) {
    const found = await attempt(() => checkpoints.findOne({ _id: keyOf(group, topic, partition) }));
    return found ? checkpointOf(found) : null;
  },
  save({ group, topic, partition, logId, next, watermark, configNumber }) {
    const id = keyOf(group, topic, partition);
    const fields = { group, topic, partition, next, clocks: String(watermark), configNumber };
    return attempt(async () => {
      const guard = { logId, next: { $lte: next } };
      const refused = await upsertGuarded(checkpoints, [{ id, guard, fields }]);
      if (refused.size === 0) return 'done';
      const stored = await checkpoints.findOne({ _id: id });
      if (stored && (stored.logId !== logId || stored.next > next)) return 'refused';
      throw new RetryFromStart('another process is writing the checkpoint');
    });
  },
});
