import type { Checkpoint, CheckpointStore, FencedWrite } from '@carillon/ports';
import type { Wire } from './wire.ts';

const placeOf = (group: string, topic: string, partition: number): string => `${group} ${topic}/${partition}`;
const shown = ({ group, topic, partition, next, configNumber }: Checkpoint): string =>
  `${placeOf(group, topic, partition)} next ${next} configuration ${configNumber}`;

/** Checkpoints in memory. They only move forward, unless the fence is off. */
export function createMemoryCheckpoints(fenced = true) {
  const stored = new Map<string, Checkpoint>();

  function save(checkpoint: Checkpoint): FencedWrite {
    const place = placeOf(checkpoint.group, checkpoint.topic, checkpoint.partition);
    const before = stored.get(place);
    const fits = !before || (before.logId === checkpoint.logId && before.next <= checkpoint.next);
    if (fenced && !fits) return 'refused';
    stored.set(place, checkpoint);
    return 'done';
  }

  return {
    get: (group: string, topic: string, partition: number): Checkpoint | null =>
      stored.get(placeOf(group, topic, partition)) ?? null,
    connect: (wire: Wire): CheckpointStore => ({
      load: (group, topic, partition) =>
        wire.ask('checkpoints.load', () => stored.get(placeOf(group, topic, partition)) ?? null, {
          about: () => placeOf(group, topic, partition),
        }),
      save: (checkpoint) =>
        wire.ask('checkpoints.save', () => save(checkpoint), { writes: true, about: () => shown(checkpoint) }),
    }),
  };
}
export type MemoryCheckpoints = ReturnType<typeof createMemoryCheckpoints>;
