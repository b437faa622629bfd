import { readPosition } from '@carillon/domain/events';
import { triggerIdOf } from '@carillon/domain/lookups';
import type { TopicOffsets } from '@carillon/domain/runs';
import type { Instant } from '@carillon/kernel';
import { placeOfIntent, placeOfTrigger, type EventOutput, type FoundOutput } from '@carillon/stages';
import type { VerifyParts, VerifyState } from './verify-parts.ts';

const LOOKUPS = 'carillon.lookups';

type Work = Pick<VerifyParts, 'history' | 'ids'> & { readonly state: VerifyState };

/** Adds the time up to which records of a range's partition are gone. A partition that starts at 0 has lost nothing. */
export async function withRemoved(
  { topic, partition }: TopicOffsets,
  { removedUntil }: VerifyState,
  { history, run }: VerifyParts,
): Promise<VerifyState['removedUntil']> {
  const { start } = await history.bounds(topic, partition);
  if (start === 0) return removedUntil;
  const [oldest] = await history.read(topic, partition, start, 1);
  const until: Instant = oldest?.time ?? run.createdAt;
  return { ...removedUntil, [`${topic}/${partition}`]: until };
}

/** Returns the append time up to which retention has removed outputs from the partition of this output. */
export function removedUntilOf(output: EventOutput, { history, ids, state }: Work): Instant {
  const places = { ids, log: history };
  const { topic, partition } =
    output.kind === 'intent' ? placeOfIntent(output.intent, places) : placeOfTrigger(output.trigger, places);
  return state.removedUntil[`${topic}/${partition}`] ?? -1;
}

export async function isEventGone({ eventPosition }: FoundOutput, { history }: VerifyParts): Promise<boolean> {
  const position = readPosition(eventPosition);
  return (
    position !== undefined && position.offset < (await history.bounds('carillon.events', position.partition)).start
  );
}

/** Returns true for a message that comes from a partner's answer that may be gone. */
export function isAnswerGone(output: EventOutput, { history, ids, state }: Work): boolean {
  if (output.kind !== 'intent') return false;
  const { causedAt, eventId, ruleId, triggerId } = output.intent;
  if (triggerId === triggerIdOf(ids.derive, ruleId, eventId)) return false;
  const partitions = Array.from({ length: history.partitions(LOOKUPS) }, (_, partition) => partition);
  return partitions.some((partition) => causedAt <= (state.removedUntil[`${LOOKUPS}/${partition}`] ?? -1));
}
