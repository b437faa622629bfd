import type { EventId, Instant, IntentId, JobId, JsonObject, RunId, TriggerId } from '@carillon/kernel';
import type { DigestContents } from '../digests/contents.ts';
import type { ChannelName } from '../channels/channel.ts';
import type { InDoubtPolicy } from '../configuration/resources.ts';

/** Retry settings of a notification with defaults filled in (interfaces section 3). */
export type RetryPolicy = { readonly attempts: number; readonly first: number; readonly max: number };

/** Identity of a message: at most one message per slot is accepted by a provider (promise 4). */
export type Slot = {
  readonly workspace: string;
  /** Stable id of the notification. */
  readonly notificationId: string;
  readonly channel: ChannelName;
  readonly uniqueId: string;
};

/**
 * A message that should be sent. Its id is a hash of its cause, so a repeated evaluation gives the same intent. The
 * delivery document contains the whole intent. Personal data is only in `to`, `person`, `slot.uniqueId` and
 * `variables`.
 */
export type Intent = {
  readonly id: IntentId;
  readonly slot: Slot;
  readonly notification: string;
  readonly rule: string;
  /** Stable id of the rule, so that a rename does not withdraw waiting messages. */
  readonly ruleId: string;
  readonly ruleVersion: number;
  readonly configNumber: number;
  readonly eventId: EventId;
  /** Position of the event, as `topic/partition@offset`. */
  readonly eventPosition: string;
  readonly triggerId: TriggerId;
  /** Address in canonical form, or as written if it is invalid for the channel. Null if the recipient has none. */
  readonly to: string | null;
  readonly person: string;
  /** Variables of the template: the fields of the event, overridden by the recipient's variables. */
  readonly variables: JsonObject;
  readonly template: string;
  readonly templateVersion: number;
  /** Append time of the event, or the deadline at which the rule fired. */
  readonly causedAt: Instant;
  /** Deadline of the wait at which the rule fired. Undefined if it fired at the event. */
  readonly deadline?: Instant;
  /** Due time. Later than `causedAt` if the notification has a delay. */
  readonly sendAt: Instant;
  /** Latest send time. Retries and take-overs do not extend it. */
  readonly notAfter: Instant;
  readonly traceparent: string | null;
  /** Set only for a test message, which has no event and no rule. Its variables come from the request. */
  readonly test?: TestSend;
  /**
   * Set if a sending job made the intent. A restore calls it off if the backup has the job, and a trace names its
   * author.
   */
  readonly sentBy?: SentBy;
  /** Value of `cadence.digest.key`. Without it, items are grouped by person. */
  readonly digestKey?: string;
  /** Items of a digest. The intent of a digest is not on the log. */
  readonly digest?: DigestContents;
};

/** The sending job that made an intent or a trigger. */
export type SentBy = {
  /** Name of the person who started the job, shown in the trace. */
  readonly person: string;
  readonly job: JobId;
  /** The comparison whose missing messages the job sends. */
  readonly run: RunId;
};

export type TestSend = {
  /** Name of the person who requested it, shown in the trace. */
  readonly by: string;
  /** Keyed hash of the request, so that a repeat is recognized even after the template changed. */
  readonly request?: string;
};

/** Settings of a notification, read from the newest configuration. */
export type DeliverySettings = {
  readonly retry: RetryPolicy;
  readonly inDoubt: InDoubtPolicy;
  readonly expires: number;
};
