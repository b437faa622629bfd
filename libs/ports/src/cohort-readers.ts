import type { CohortChange } from '@carillon/domain/cohorts';
import type { WebhookIntegration } from '@carillon/domain/configuration';
import type { CarillonError, Instant, Json, Result } from '@carillon/kernel';

/** Platforms that send what changed in a cohort. `CohortPages` asks the others. */
export type WebhookPlatform = WebhookIntegration['kind'];

/**
 * Credentials in a request that should prove its origin. The caller, who holds the secrets, compares them in constant
 * time.
 */
export type CohortProof =
  /** Any of these is the secret, if the request is genuine. */
  | { readonly kind: 'secret'; readonly candidates: readonly string[] }
  /** Hex HMAC-SHA1 of these bytes under the secret. */
  | { readonly kind: 'hmac_sha1'; readonly signature: string; readonly over: Uint8Array };

/** Headers that may hold a proof. A duplicated header counts as missing. */
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

/**
 * Parses the cohort messages of platforms and writes responses in each platform's format. Never throws because of a
 * message.
 */
export type CohortReaders = {
  /** Whether the proof covers the body, so that nothing is proved before all of it has come. */
  signsBody(platform: WebhookPlatform, shown: ShownCredentials): boolean;
  /** Returns the proof in a request of this platform, or null if it has none. */
  proofOf(platform: WebhookPlatform, shown: ShownCredentials, body: Uint8Array): CohortProof | null;
  /** The JSON of a body. Apart from `read`: each holds the process for some milliseconds where a body has 10,000 members. */
  parse(body: Uint8Array): Result<Json, CarillonError>;
  read(platform: WebhookPlatform, body: Json, options: CohortReadingOptions): CohortMessageReading;
  /** The answer that the platform takes for success, once everything is on the log. */
  accepted(platform: WebhookPlatform, echo: Json, id: string): CohortAnswer;
  /** The platform's own form of a failure; null where a problem (RFC 9457) is as good as anything. */
  refused(platform: WebhookPlatform, echo: Json, error: CarillonError): Json | null;
};
