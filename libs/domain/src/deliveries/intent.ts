import type { EventId, Instant, IntentId, JobId, JsonObject, RunId, TriggerId } from '@carillon/kernel';
import type { DigestContents } from '../digests/contents.ts';
import type { ChannelName } from '../channels/channel.ts';
import type { InDoubtPolicy } from '../configuration/resources.ts';

/** What the retry of a notification says, with the defaults filled in (interfaces section 3). */
export type RetryPolicy = { readonly attempts: number; readonly first: number; readonly max: number };

/** What no two messages may share: at most one is accepted by a provider (promise 4). */
export type Slot = {
  readonly workspace: string;
  /** The notification's stable id. */
  readonly notificationId: string;
  readonly channel: ChannelName;
  readonly uniqueId: string;
};

/**
 * One message that ought to be sent. Its id is a hash of what caused it, so evaluating twice yields the same intent.
 * The delivery document carries it whole; what is personal in it stands in `to`, `person`, `slot.uniqueId`, `variables`.
 */
export type Intent = {
  readonly id: IntentId;
  readonly slot: Slot;
  readonly notification: string;
  readonly rule: string;
  /** The rule's stable id: a rename does not withdraw what waits. */
  readonly ruleId: string;
  readonly ruleVersion: number;
  readonly configNumber: number;
  readonly eventId: EventId;
  /** Position of the event, as text `topic/partition@offset`. */
  readonly eventPosition: string;
  readonly triggerId: TriggerId;
  /** Canonical, or as it was written where it is no address of the channel. Null: the recipient has none. */
  readonly to: string | null;
  readonly person: string;
  /** What the template refers to, by bare name: the event's fields, and the recipient's variables over them. */
  readonly variables: JsonObject;
  readonly template: string;
  readonly templateVersion: number;
  /** Append time of the event, or the deadline by which the rule fired. */
  readonly causedAt: Instant;
  /** Deadline of the wait by which the rule fired. Undefined: it fired at the event. */
  readonly deadline?: Instant;
  /** When it is due: later than `causedAt` where the notification has a delay. */
  readonly sendAt: Instant;
  /** Nothing is sent after this, whatever made it come again. */
  readonly notAfter: Instant;
  readonly traceparent: string | null;
  /** Set for a test message alone. No event and no rule stand behind it; its variables came with the request. */
  readonly test?: TestSend;
  /** Set if a sending job made it. A restore calls it off if the backup holds the job, and a trace names its author. */
  readonly sentBy?: SentBy;
  /** What `cadence.digest.key` came to; left out: items meet by person. */
  readonly digestKey?: string;
  /** What a digest is made of. The intent of a digest stands on no topic. */
  readonly digest?: DigestContents;
};

/** The sending job that made an intent or a trigger. */
export type SentBy = {
  /** Name of the person who started the job, as the trace of a delivery shows it. */
  readonly person: string;
  readonly job: JobId;
  /** The comparison whose missing messages the job sends. */
  readonly run: RunId;
};

export type TestSend = {
  /** Who asked for it, by the name that the story of a delivery shows. */
  readonly by: string;
  /** A keyed hash of what was asked for, so that the same request is known again whatever the template names by then. */
  readonly request?: string;
};

/** Settings of a notification as delivery reads them from the newest configuration. */
export type DeliverySettings = {
  readonly retry: RetryPolicy;
  readonly inDoubt: InDoubtPolicy;
  readonly expires: number;
};
