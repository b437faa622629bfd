import type { Duration } from './time.ts';

/**
 * All failures visible outside the program, by stable code. `status` is the HTTP status. `title` is fixed text. The
 * `detail` of an occurrence says what to do. docs/errors.md is written from this table, and a test compares them.
 */
export const ERRORS = {
  invalid_json: { status: 400, title: 'The body is not valid JSON' },
  not_an_object: { status: 400, title: 'The event is not a JSON object' },
  duplicate_key: { status: 400, title: 'An object names the same field twice' },
  number_out_of_range: { status: 400, title: 'A number is beyond 64-bit integers or doubles' },
  too_deep: { status: 400, title: 'The body is nested too deeply' },
  too_many_keys: { status: 400, title: 'The body has too many fields' },
  forbidden_key: { status: 400, title: 'A field name is not allowed' },
  missing_entity_key: { status: 400, title: 'The event has no value at the key of its stream' },
  missing_event_time: { status: 400, title: 'The event has no timestamp at the time path of its stream' },
  invalid_cloudevent: { status: 400, title: 'The CloudEvent is not valid' },
  invalid_envelope: { status: 400, title: 'The body is not a Debezium envelope' },
  invalid_idempotency_key: { status: 400, title: 'The Idempotency-Key cannot be used' },
  invalid_request: { status: 400, title: 'The request is not valid' },
  invalid_configuration: { status: 400, title: 'The configuration is not valid' },
  window_empty: { status: 400, title: 'No events in this time range' },
  unauthorized: { status: 401, title: 'No valid credential' },
  second_factor: { status: 401, title: 'A second factor is needed' },
  cross_site: { status: 403, title: 'Cross-site request refused' },
  forbidden: { status: 403, title: 'This credential may not be used here' },
  forbidden_role: { status: 403, title: 'The role does not allow this' },
  claim_mismatch: { status: 403, title: 'The token does not match the event' },
  not_found: { status: 404, title: 'Not found' },
  method_not_allowed: { status: 405, title: 'This path does not support the method' },
  request_timeout: { status: 408, title: 'The request did not arrive in time' },
  conflict: { status: 409, title: 'The resource has changed in the meantime' },
  draft_conflict: { status: 409, title: 'The published version below a draft has changed' },
  request_begun: { status: 409, title: 'A request with this Idempotency-Key was already started' },
  wrong_state: { status: 409, title: 'The current state does not allow this' },
  run_unfinished: { status: 409, title: 'The run has not finished' },
  not_published: { status: 409, title: 'The edit is not published' },
  precondition_failed: { status: 412, title: 'The resource has changed since it was read' },
  body_too_large: { status: 413, title: 'The body is too large' },
  unsupported_media_type: { status: 415, title: 'The media type of the body is not accepted' },
  idempotency_mismatch: { status: 422, title: 'The Idempotency-Key was used with another body' },
  precondition_required: { status: 428, title: 'An If-Match or If-None-Match header is required' },
  rate_limited: { status: 429, title: 'Too many requests' },
  internal: { status: 500, title: 'Something went wrong on our side' },
  log_unavailable: { status: 503, title: 'The log cannot take events now' },
  store_unavailable: { status: 503, title: 'The database is unavailable now' },
  overloaded: { status: 503, title: 'The server is overloaded' },
  keys_unavailable: { status: 503, title: 'The keys that verify this token cannot be fetched' },
  provider_unavailable: { status: 503, title: 'The identity provider does not answer' },
  configuration_stale: { status: 503, title: 'The newest configuration could not be loaded' },
  audit_unavailable: { status: 503, title: 'The audit log cannot be written now' },
  secret_missing: { status: 503, title: 'A required secret is not set' },
  stopping: { status: 503, title: 'The server is stopping' },
  no_room: { status: 507, title: 'Not enough disk space for the run' },
  wrong_usage: { status: 400, title: 'Wrong command or option' },
  port_in_use: { status: 500, title: 'The port is in use' },
  data_locked: { status: 500, title: 'Another process holds the data folder' },
  data_copied: { status: 500, title: 'The data folder was copied while it was in use' },
  data_damaged: { status: 500, title: 'The data folder is damaged' },
  data_version: { status: 500, title: 'The data folder was written by another version' },
  store_differs: { status: 500, title: 'The database is not set up for Carillon' },
  wrong_log: { status: 500, title: 'Stored positions belong to another log' },
  engine_outdated: { status: 500, title: 'This engine is older than the events it reads' },
  wrong_key: { status: 500, title: 'The deployment key does not match the stored data' },
} as const satisfies Record<string, { status: number; title: string }>;
export type ErrorCode = keyof typeof ERRORS;

/** A mistake in a resource's body, as part of a problem. */
export type FaultFact = {
  readonly kind: string;
  readonly workspace: string;
  readonly name: string;
  /** Code of the mistake (see `FAULT_FACTS`) and the facts for its text. */
  readonly code: string;
  readonly facts: Readonly<Record<string, string>>;
  /** Path of keys in the body. Empty for the whole body. */
  readonly path: string;
  /** Position within the text at the path. Null for the whole value. */
  readonly line: number | null;
  readonly column: number | null;
  readonly message: string;
  readonly expected: string;
  readonly fix: string;
};

/** The newer version of a resource, after a lost race. */
export type NewerFact = {
  /** Its current number. Null if it was removed. */
  readonly number: number | null;
  /** Time of the version, RFC 3339. Null if it was never written. */
  readonly at: string | null;
  readonly by: { readonly kind: string; readonly id: string } | null;
};

/** A draft in conflict with a changed resource. Bodies are null if they do not exist. */
export type DraftConflictFact = {
  readonly kind: string;
  readonly workspace: string;
  readonly name: string;
  readonly revision: string;
  readonly base: { readonly number: number | null; readonly body: Readonly<Record<string, unknown>> | null };
  readonly theirs: { readonly number: number | null; readonly body: Readonly<Record<string, unknown>> | null };
  readonly mine: { readonly body: Readonly<Record<string, unknown>> | null };
  /** Values that differ between the three bodies. */
  readonly fields: readonly {
    readonly path: string;
    readonly base: string | null;
    readonly theirs: string | null;
    readonly mine: string | null;
  }[];
};

export type ErrorFacts = {
  /** RFC 6901 pointer into the body. */ readonly pointer?: string;
  readonly line?: number;
  readonly column?: number;
  /** Mistakes in resource bodies. */
  readonly faults?: readonly FaultFact[];
  /** Drafts in conflict: their base, the current version and the draft. */
  readonly conflicts?: readonly DraftConflictFact[];
  /** The current version after a lost race. */
  readonly newer?: NewerFact;
  /** The exceeded limit with its unit. */ readonly limit?: string;
  /** Time after which a retry makes sense. */ readonly retryAfter?: Duration;
  /** What is wrong with a presented token, for a response header. Has no quotes or backslashes. */
  readonly tokenFault?: string;
};

/**
 * A failure with a code of `ERRORS`. `detail` says what happened and what to do. It never holds a secret or an address.
 */
export class CarillonError extends Error {
  readonly code: ErrorCode;
  readonly detail: string;
  readonly facts: ErrorFacts;
  constructor(code: ErrorCode, detail: string, facts: ErrorFacts = {}, options?: { cause?: unknown }) {
    super(`${ERRORS[code].title}: ${detail}`, options);
    this.name = 'CarillonError';
    this.code = code;
    this.detail = detail;
    this.facts = facts;
  }
}

export const isCarillonError = (error: unknown): error is CarillonError => error instanceof CarillonError;
/** Returns true if a consumer cannot continue in its partition until a person has acted. */
export const stopsPartition = (error: unknown): boolean =>
  isCarillonError(error) && (error.code === 'wrong_log' || error.code === 'engine_outdated');
/** Returns the message of any thrown value. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
