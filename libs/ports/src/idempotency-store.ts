import type { Instant } from '@carillon/kernel';

/** A request that was sent with a name of its own, so that a repetition of it is known. */
export type IdempotentRequest = {
  /** Who, what, and the name; as a keyed digest. */
  readonly id: string;
  /** What was sent, as a keyed digest. */
  readonly fingerprint: string;
  /** Names the one try that may carry it out. */
  readonly token: string;
  readonly begunAt: Instant;
  /** From here on it is as if it had never been sent. */
  readonly endsAt: Instant;
  /** What was answered, sealed; null: it is under way, or nobody saw how it ended. */
  readonly answer: string | null;
};

/** Requests with their answers, for as long as a repetition gets the same. Writes are durable when they resolve. */
export type IdempotencyStore = {
  /**
   * Keeps the request and answers it, unless one of its id is there that has not ended at `now`: then that one is answered and
   * stays as it is. Of many at once one is kept. The token says whose it is.
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
