import type { Checkpoint, CheckpointStore, FencedWrite, RuleState, RuleStateStore } from '@carillon/ports';
import type { Wire } from './wire.ts';

const placeOf = (group: string, topic: string, partition: number): string => `${group} ${topic}/${partition}`;
const shown = ({ group, topic, partition, next, configNumber }: Checkpoint): string =>
  `${placeOf(group, topic, partition)} next ${next} configuration ${configNumber}`;

/** Checkpoints: each only moves forwards; without the fence, wherever it is told to. */
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

/** States of rules, each fenced by the position in it. */
export function createMemoryRuleStates() {
  const stored = new Map<string, RuleState>();

  function saveOne(state: RuleState): FencedWrite {
    const before = stored.get(state.id);
    const same = !before || (before.logId === state.logId && before.partition === state.partition);
    if (!same || (before && before.offset > state.offset)) return 'refused';
    stored.set(state.id, state);
    return 'done';
  }

  return {
    connect: (wire: Wire): RuleStateStore => ({
      load: (ids) =>
        wire.ask('ruleStates.load', () => ids.map((id) => stored.get(id)).filter((one) => one !== undefined)),
      save: (states) => wire.ask('ruleStates.save', () => states.map(saveOne), { writes: true }),
      due: (partition, at, limit) =>
        wire.ask('ruleStates.due', () =>
          [...stored.values()]
            .filter((state) => state.partition === partition && state.nextDue !== null && state.nextDue <= at)
            .toSorted((a, b) => (a.nextDue ?? 0) - (b.nextDue ?? 0))
            .slice(0, limit),
        ),
    }),
  };
}
