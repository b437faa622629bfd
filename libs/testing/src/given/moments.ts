import { createIds } from '@carillon/adapter-system';
import type { Moment } from '@carillon/domain/deliveries';
import type { Duration, Instant } from '@carillon/kernel';
import type { Clock, Ids } from '@carillon/ports';

/** A time at which stories begin: far from zero, so that a forgotten time shows. */
export const MORNING: Instant = Date.UTC(2026, 0, 31, 8);
export const MINUTE: Duration = 60_000;
export const HOUR: Duration = 3_600_000;

/** Ids of a deployment whose ledger key is all zeros: the same in every run. */
export const givenIds: Ids = createIds(new Uint8Array(32));

/** What a decision gets from outside, at this time. */
export const at = (now: Instant): Moment => ({ now, derive: givenIds.derive });

export type SettableClock = Clock & { pass(span: Duration): void };

/** A clock that only moves when the test sets it. */
export function settableClock(start: Instant = MORNING): SettableClock {
  let now = start;
  return {
    now: () => now,
    pass: (span) => {
      now += span;
    },
  };
}
