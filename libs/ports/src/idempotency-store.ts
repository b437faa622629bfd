import type { Instant } from '@carillon/kernel';

/** A request that was sent with a name of its own, so that a repetition of it is known. */
export type IdempotentRequest = {
  /** Keyed digest of caller, operation and idempotency key. */
  readonly id: string;
  /** Keyed digest of the request body. */
  readonly fingerprint: string;
  /** Token of the attempt that may carry out the request. */
  readonly token: string;
  readonly begunAt: Instant;
  /** Time after which the request counts as never sent. */
  readonly endsAt: Instant;
  /** The sealed response. Null while the request runs or if its end was not recorded. */
  readonly answer: string | null;
};

/** Requests with their answers, for as long as a repetition gets the same. Writes are durable when they resolve. */
export type IdempotencyStore = {
  /**
   * Stores the request and returns it. If a request with this id is stored and has not expired at `now`, returns the
   * stored one unchanged. Exactly one of several concurrent callers stores its request; the token identifies which.
   */
  begin(request: IdempotentRequest, now: Instant): Promise<IdempotentRequest>;
  find(id: string): Promise<IdempotentRequest | null>;
  /** Keeps the answer to the try of this token; nothing where another try has the id. */
  finish(id: string, token: string, answer: string): Promise<void>;
  /** Forgets the try of this token: it did nothing. Nothing where another try has the id. */
  forget(id: string, token: string): Promise<void>;
  /** Removes at most so many that ended before this time; answers how many. */
  removeEnded(before: Instant, limit: number): Promise<number>;
};
