import type { CheckpointStore, EventLog, PartitionWorker } from '@carillon/ports';
import { openTopology } from '@carillon/testing/topology';
import { describe, expect, it } from 'vitest';
import { createRecordSink, Progress, startStageConsumer, type ConsumerWatch } from '../src/index.ts';

const ignore = (): void => undefined;

describe('an assignment of a partition that begins and ends late', () => {
  it('does not change the progress of the newest assignment', async () => {
    const topology = await openTopology({ partitions: 1 });
    const { log, checkpoints } = topology.data;
    const slow = Promise.withResolvers<void>();
    let loads = 0;
    const load: CheckpointStore['load'] = async (...place) => {
      loads += 1;
      if (loads === 1) await slow.promise;
      return checkpoints.load(...place);
    };
    const assign: ((partition: number) => Promise<PartitionWorker>)[] = [];
    const consume: EventLog['consume'] = async (options) => {
      assign.push((partition) => options.assigned(partition));
      return { stop: async () => undefined };
    };
    const left: number[] = [];
    const watch: ConsumerWatch = {
      consumes: ignore,
      begun: () => ignore,
      failed: ignore,
      stopped: () => ignore,
      left: ({ partition }) => void left.push(partition),
      skipped: ignore,
    };
    const progress = new Progress();
    const held = new Set<number>();
    await startStageConsumer({
      group: 'g',
      topic: 'carillon.triggers',
      stage: { name: 'none', handle: async (_, state) => ({ fates: [], outputs: [], state }) },
      sink: createRecordSink(log),
      log: { ...log, consume },
      checkpoints: { ...checkpoints, load },
      watch,
      progress,
      held,
    });
    const earlier = assign[0]?.(0);
    await assign[0]?.(0);
    slow.resolve();
    await (await earlier)?.lost();
    expect(progress.caughtUp()).toEqual([{ partition: 0, offset: 0 }]);
    expect([...held]).toEqual([0]);
    expect(left).toEqual([]);
    await topology.close();
  });
});
