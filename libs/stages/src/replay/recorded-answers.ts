import type { Lookup, LookupItem, Trigger } from '@carillon/domain/lookups';
import type { EventId, Instant, TriggerId } from '@carillon/kernel';

/**
 * A partner's answer that stands on `carillon.lookups`, with the facts that a comparison needs. Rule id, event id and part are
 * its key, because an answer that a sending job obtained has another trigger id. It holds names and addresses.
 */
export type RecordedAnswer = {
  readonly ruleId: string;
  readonly eventId: EventId;
  readonly part: number;
  readonly triggerId: TriggerId;
  /** Append time of the record. */
  readonly at: Instant;
  readonly integration: string;
  /** User ids that the partner was asked about. */
  readonly userIds: readonly string[];
  readonly items: readonly LookupItem[];
};

/** Finds the first recorded answer of a key. Undefined if there is none in the range. */
export type FindAnswer = (ruleId: string, eventId: EventId, part: number) => RecordedAnswer | undefined;

/** Returns the answer of a record that was appended at `at`. */
export const recordedAnswerOf = (
  { trigger, items }: Pick<Lookup, 'trigger' | 'items'>,
  at: Instant,
): RecordedAnswer => ({
  ruleId: trigger.ruleId,
  eventId: trigger.eventId,
  part: trigger.part,
  triggerId: trigger.id,
  at,
  integration: trigger.integration,
  userIds: trigger.userIds,
  items,
});

/**
 * Returns true if `answer` counts and not `other` of the same key: it is earlier on the log, or has the smaller trigger id at the
 * same time. Partitions may be read in any order. Records of one trigger are in one partition, so the one read first counts.
 */
export const isFirstAnswer = (
  answer: Pick<RecordedAnswer, 'at' | 'triggerId'>,
  other: Pick<RecordedAnswer, 'at' | 'triggerId'>,
): boolean => answer.at < other.at || (answer.at === other.at && answer.triggerId < other.triggerId);

/**
 * Returns the items of a recorded answer for a trigger of the edited rule. Null if the answer says nothing certain about
 * the trigger's user ids: there is no answer, another integration gave it, or it was not asked about one of the ids.
 */
export function itemsFor(
  { integration, userIds }: Pick<Trigger, 'integration' | 'userIds'>,
  answer: RecordedAnswer | undefined,
): readonly LookupItem[] | null {
  if (!answer || answer.integration !== integration) return null;
  const known = new Set(answer.userIds);
  if (userIds.some((id) => !known.has(id))) return null;
  if (userIds.length === known.size) return answer.items;
  // Nobody can say whether an item without an id belongs to an id that is still asked about.
  if (answer.items.some(({ userId }) => userId === null)) return null;
  const wanted = new Set(userIds);
  return answer.items.filter(({ userId }) => userId !== null && wanted.has(userId));
}
