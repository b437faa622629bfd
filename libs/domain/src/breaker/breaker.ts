import type { Instant } from '@carillon/kernel';

/**
 * Result of a call, as evidence about the other system. `bad`: overloaded, unreachable or unclear. `shut`: it refuses
 * us, so other calls would fail too. `good`: anything else, even if the call itself was refused.
 */
export type CallEnd = 'good' | 'bad' | 'shut';

/**
 * Circuit breaker for a failing system (docs/internals/provider-outcomes.md), such as a provider account or a partner's
 * host. Opens for 30 s if at least 60 % of at least 10 calls of the last five minutes were bad. One probe then decides.
 * A call that ends in `shut` opens it for a minute.
 */
export type Breaker = {
  readonly calls: readonly { readonly at: Instant; readonly bad: boolean }[];
  readonly openUntil: Instant;
  /** A probe is under way since then. */
  readonly probingSince: Instant | null;
  /** True if the breaker was open, so that the next call is a probe. */
  readonly halfOpen: boolean;
  readonly why: string;
};

/** Five minutes, so that ten calls that each hang for a minute over five connections still count together. */
const WINDOW_MS = 300_000;
const LEAST_CALLS = 10;
const BAD_SHARE = 0.6;
const OPEN_MS = 30_000;
const SHUT_MS = 60_000;
/** A probe that never reported back stops counting after this. */
const PROBE_LIMIT = 120_000;
const KEPT = 200;

export const CLOSED: Breaker = { calls: [], openUntil: 0, probingSince: null, halfOpen: false, why: '' };

/** When a call may begin: `now` or earlier means at once. */
export function mayCallAt(breaker: Breaker, now: Instant): Instant {
  // No pause is longer than SHUT_MS. One that seems longer began before the clock was set back.
  if (now < breaker.openUntil && breaker.openUntil - now <= SHUT_MS) return breaker.openUntil;
  const probing = breaker.probingSince !== null && Math.abs(now - breaker.probingSince) < PROBE_LIMIT;
  return breaker.halfOpen && probing ? now + 1000 : now;
}

/** Must be called before a call that `mayCallAt` allowed. */
export const callBegun = (breaker: Breaker, now: Instant): Breaker =>
  breaker.halfOpen ? { ...breaker, probingSince: now } : breaker;

/** A probe that was not made after all: the next call is one. */
export const callNotMade = (breaker: Breaker): Breaker => ({ ...breaker, probingSince: null });

/** Another process makes the probe: this one looks again when a pause would be over. */
export const probedElsewhere = (breaker: Breaker, now: Instant): Breaker => ({
  ...breaker,
  openUntil: now + OPEN_MS,
  probingSince: null,
});

/** Must be called after each call. */
export function callEnded(breaker: Breaker, end: CallEnd, why: string, now: Instant): Breaker {
  if (end === 'shut') {
    return { calls: [], openUntil: now + SHUT_MS, probingSince: null, halfOpen: true, why };
  }
  const bad = end === 'bad';
  if (breaker.halfOpen) {
    return bad ? { ...breaker, openUntil: now + OPEN_MS, probingSince: null, why } : CLOSED;
  }
  const calls = [...breaker.calls, { at: now, bad }].filter((call) => now - call.at < WINDOW_MS).slice(-KEPT);
  const share = calls.filter((call) => call.bad).length / calls.length;
  if (calls.length >= LEAST_CALLS && share >= BAD_SHARE) {
    return { calls: [], openUntil: now + OPEN_MS, probingSince: null, halfOpen: true, why };
  }
  return { ...breaker, calls };
}
