import type { CohortChange } from '@carillon/domain/cohorts';
import type { WebhookIntegration } from '@carillon/domain/configuration';
import type { CarillonError, Instant, Json, Result } from '@carillon/kernel';

/** Platforms that send what changed in a cohort. `CohortPages` asks the others. */
export type WebhookPlatform = WebhookIntegration['kind'];

/**
 * What a request shows to prove that it comes from the platform. Nothing has been compared yet: whoever holds the
 * secrets does that, in constant time.
 */
export type CohortProof =
  /** Any of these is the secret, if the request is genuine. */
  | { readonly kind: 'secret'; readonly candidates: readonly string[] }
  /** Hex HMAC-SHA1 of these bytes under the secret. */
  | { readonly kind: 'hmac_sha1'; readonly signature: string; readonly over: Uint8Array };

/** The headers that may hold a proof; of one that came twice, nothing. */
export type ShownCredentials = { readonly authorization: string | undefined; readonly signature: string | undefined };

/** What a genuine message says. */
export type CohortMessageReading = {
  /** The part that the answer repeats; null where there is none. The answer needs nothing else of the message. */
  readonly echo: Json;
  /** Calls that are about no audience. */
  readonly passedOver: number;
  /** The error says what is wrong with the body. */
  readonly changes: Result<readonly CohortChange[], CarillonError>;
};

export type CohortReadingOptions = {
  /** The field that holds a member's id; without it the platform's usual one. */
  readonly userId: string | undefined;
  /** Whether several calls in one body are taken from a platform that signs the first alone. */
  readonly batches: boolean;
  readonly now: Instant;
};

export type CohortAnswer = { readonly status: number; readonly body: Json };

/** Reads what platforms send of cohorts, and answers in the form that they read. Throws nothing for what they sent. */
export type CohortReaders = {
  /** Whether the proof covers the body, so that nothing is proved before all of it has come. */
  signsBody(platform: WebhookPlatform, shown: ShownCredentials): boolean;
  /** What proves a request of this platform; null where it shows nothing. */
  proofOf(platform: WebhookPlatform, shown: ShownCredentials, body: Uint8Array): CohortProof | null;
  /** The JSON of a body. Apart from `read`: each holds the process for some milliseconds where a body has 10,000 members. */
  parse(body: Uint8Array): Result<Json, CarillonError>;
  read(platform: WebhookPlatform, body: Json, options: CohortReadingOptions): CohortMessageReading;
  /** The answer that the platform takes for success, once everything is on the log. */
  accepted(platform: WebhookPlatform, echo: Json, id: string): CohortAnswer;
  /** The platform's own form of a failure; null where a problem (RFC 9457) is as good as anything. */
  refused(platform: WebhookPlatform, echo: Json, error: CarillonError): Json | null;
};
