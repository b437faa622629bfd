import type { DeriveId, EventId, Instant, JsonObject, TriggerId } from '@carillon/kernel';
import type { VisibleChange } from '../changes/visible-change.ts';
import type { SentBy } from '../deliveries/intent.ts';
import type { ShownTotals } from '../rules/forms/index.ts';

/**
 * The question of a fired rule to a partner that has to name the recipients. Carries the data needed later, so that the
 * answer can be resolved without the event.
 */
export type Trigger = {
  readonly id: TriggerId;
  readonly workspace: string;
  readonly notification: string;
  /** `notification.rule` */
  readonly rule: string;
  readonly ruleId: string;
  readonly ruleVersion: number;
  readonly configNumber: number;
  /** Name of the integration that is asked. */
  readonly integration: string;
  readonly eventId: EventId;
  /** Position of the event, as text `topic/partition@offset`. */
  readonly eventPosition: string;
  /** A long list of ids is several triggers: this is number `part`, from 0, of `parts`. */
  readonly part: number;
  readonly parts: number;
  /** At most 500, each once. */
  readonly userIds: readonly string[];
  /** The fields of the event that the rule and its templates refer to. */
  readonly event: JsonObject;
  /** The change as rules see it. Undefined if the event is no change. */
  readonly change?: VisibleChange;
  /** The event's time, as the rule sees it. */
  readonly time: Instant;
  /** Append time of the event, or the deadline by which the rule fired. */
  readonly causedAt: Instant;
  /** Deadline of the wait by which the rule fired. Undefined: it fired at the event. */
  readonly deadline?: Instant;
  /** Totals of the rule when it fired. Undefined: it has none. */
  readonly totals?: ShownTotals;
  /** Time after which the partner is not called and nothing is sent. */
  readonly notAfter: Instant;
  readonly traceparent: string | null;
  /** Set if a sending job made it. The intents that come of it carry it on. */
  readonly sentBy?: SentBy;
};

/** Maximum user ids of a trigger, and so of its call. */
export const MAX_IDS_OF_TRIGGER = 500;

/** The id of a rule's trigger for an event; of the n-th part where a long list makes several. */
export const triggerIdOf = (
  derive: DeriveId,
  ruleId: string,
  eventId: EventId,
  { part, runId }: { readonly part?: number; readonly runId?: string | null } = {},
): TriggerId => {
  const ofPart = part === undefined ? [] : [String(part)];
  return derive('trigger', ruleId, eventId, '', ...ofPart, ...(runId ? ['run', runId] : [])) as TriggerId;
};

/** Splits a list of ids into the lists of the triggers, in order. */
export function partsOf(userIds: readonly string[]): readonly (readonly string[])[] {
  const parts: (readonly string[])[] = [];
  for (let at = 0; at < userIds.length; at += MAX_IDS_OF_TRIGGER) {
    parts.push(userIds.slice(at, at + MAX_IDS_OF_TRIGGER));
  }
  return parts;
}
