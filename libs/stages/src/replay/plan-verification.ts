import { VERIFIED_TOPICS, type RunOffsets, type VerifyRun } from '@carillon/domain/runs';
import type { Duration } from '@carillon/kernel';
import type { CheckpointStore, EventLog } from '@carillon/ports';
import { offsetAt } from './offset-at.ts';

const GROUP = 'engine';
/** An output is appended after its event. Its append time may be earlier by this much, because the clock was set back. */
const CLOCK_STEP: Duration = 3_600_000;

type PlanPorts = {
  readonly log: Pick<EventLog, 'partitions' | 'read' | 'bounds'>;
  readonly checkpoints: Pick<CheckpointStore, 'load'>;
};
export type VerificationPlan = Pick<VerifyRun, 'offsets' | 'others' | 'resolved' | 'notEvaluated'>;

/**
 * Returns what a verification reads. The engine's positions are read before the ends of the topics to which it appends, so that each
 * output of an event that counts as evaluated is before these ends.
 */
export async function planVerification(
  offsets: readonly RunOffsets[],
  { from }: Pick<VerifyRun, 'from'>,
  { log, checkpoints }: PlanPorts,
): Promise<VerificationPlan> {
  const nextOf = async (topic: 'carillon.events' | 'carillon.lookups', partition: number): Promise<number> =>
    (await checkpoints.load(GROUP, topic, partition))?.next ?? 0;
  const partitionsOf = (topic: (typeof VERIFIED_TOPICS)[number]): readonly number[] =>
    Array.from({ length: log.partitions(topic) }, (_, partition) => partition);
  // A cluster answers each of several hundred requests after a round trip.
  const [positions, resolved] = await Promise.all([
    Promise.all(offsets.map(({ partition }) => nextOf('carillon.events', partition))),
    Promise.all(partitionsOf('carillon.lookups').map((partition) => nextOf('carillon.lookups', partition))),
  ]);
  const evaluated: RunOffsets[] = [];
  let notEvaluated = 0;
  for (const [index, { partition, first, end }] of offsets.entries()) {
    const next = Math.max(first, Math.min(end, positions[index] ?? 0));
    notEvaluated += end - next;
    if (next > first) evaluated.push({ partition, first, end: next });
  }
  const ranges = await Promise.all(
    VERIFIED_TOPICS.flatMap((topic) =>
      partitionsOf(topic).map(async (partition) => ({
        topic,
        partition,
        first: await offsetAt(log, topic, partition, from - CLOCK_STEP),
        end: (await log.bounds(topic, partition)).end,
      })),
    ),
  );
  // A range without records stays, because retention may have removed them.
  const others = ranges.filter(({ end }) => end > 0);
  return { offsets: evaluated, others, resolved, notEvaluated };
}
