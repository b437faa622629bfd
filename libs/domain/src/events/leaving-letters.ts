import type { Duration, Instant } from '@carillon/kernel';

const DAY = 86_400_000;
/** How long before retention removes an open dead letter people hear of it. */
const NOTICE = 7 * DAY;
/** Kafka only removes whole segments, and a segment holds the records of one day. */
const SEGMENT = DAY;

/** Times of dead letters: at or after `since`, before `before`. */
export type LeavingRange = { readonly since: Instant; readonly before: Instant };

/**
 * Returns between which times dead letters were written that retention removes within seven days, or at any moment. Null if none are:
 * `kept` is null if open dead letters stay.
 */
export const leavingLetters = (kept: Duration | null, now: Instant): LeavingRange | null =>
  kept === null ? null : { since: now - kept - SEGMENT, before: now - kept + NOTICE };
