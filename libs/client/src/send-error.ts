/** Failure that a response describes (RFC 9457), as far as it was received. */
export type Failure = {
  /** Status of the last answer; 0 where none came. */
  readonly status: number;
  /** The stable code (docs/errors.md); `no_answer` where none came, `unknown` where an answer had none. */
  readonly code: string;
  /** Instruction from the server what to do. */
  readonly detail: string;
  /** Names the request in the server's log. */
  readonly requestId: string | null;
  /** RFC 6901 pointer to the field of the event that is wrong. */
  readonly pointer: string | null;
  /** Error of a function that the caller gave. */
  readonly cause?: unknown;
};

/** An event that was not sent, or whose sending is uncertain. Contains nothing of the event or the credential. */
export class SendError extends Error implements Failure {
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly requestId: string | null;
  readonly pointer: string | null;
  /** Idempotency key of the event. Sent again under this key, the event counts once, whatever happened before. */
  readonly key: string;
  /** Requests that were made. */
  readonly attempts: number;
  /** Whether sending it again later may succeed, under the same key. False: the event or the credential has to change. */
  readonly mayPass: boolean;

  constructor(failure: Failure, more: { readonly key: string; readonly attempts: number; readonly mayPass: boolean }) {
    super(`${failure.code}: ${failure.detail}`, failure.cause === undefined ? {} : { cause: failure.cause });
    this.name = 'SendError';
    this.status = failure.status;
    this.code = failure.code;
    this.detail = failure.detail;
    this.requestId = failure.requestId;
    this.pointer = failure.pointer;
    this.key = more.key;
    this.attempts = more.attempts;
    this.mayPass = more.mayPass;
  }
}

const textOr = (value: unknown, other: string): string => (typeof value === 'string' && value !== '' ? value : other);
const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null);

/** Whether the same request may be answered otherwise later. */
export const passes = (status: number): boolean => status === 0 || status === 408 || status === 429 || status >= 500;

export const noAnswer = (detail: string): Failure => ({
  status: 0,
  code: 'no_answer',
  detail,
  requestId: null,
  pointer: null,
});

/** Reads a problem body. For any other body, such as a proxy's page, only the status is used. */
export function readFailure(status: number, body: string): Failure {
  let problem: Readonly<Record<string, unknown>> = {};
  try {
    const json: unknown = JSON.parse(body);
    if (typeof json === 'object' && json !== null) problem = json as Readonly<Record<string, unknown>>;
  } catch {
    // A page of somebody in between.
  }
  return failureOf(status, problem);
}

/** Returns the fields of a problem that are present. */
export const failureOf = (status: number, problem: Readonly<Record<string, unknown>>): Failure => ({
  status,
  code: textOr(problem['code'], 'unknown'),
  detail: textOr(problem['detail'], `the answer was ${status}`),
  requestId: textOrNull(problem['request_id']),
  pointer: textOrNull(problem['pointer']),
});
