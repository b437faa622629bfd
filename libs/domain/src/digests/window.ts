import type { Duration, Instant } from '@carillon/kernel';
import { addDays, instantAt, localTimeAt, weekdayOn, type WallMinute, type Weekday } from '../cadence/local-time.ts';

/** How long a window collects. */
export type DigestWindow =
  | { readonly kind: 'fixed'; readonly length: Duration }
  /** The window is extended by `step` after each item, and ends at most `atMost` after the first one. */
  | { readonly kind: 'sliding'; readonly step: Duration; readonly atMost: Duration }
  /** Closes at the next of these times on the recipient's clock. */
  | { readonly kind: 'at'; readonly minutes: readonly WallMinute[]; readonly days: ReadonlySet<Weekday> };

/** When an open window closes. What the configuration says later of windows does not count for it. */
export type WindowEnd = {
  readonly closesAt: Instant;
  /** How each further item postpones the end. Null if items do not. */
  readonly slide: { readonly step: Duration; readonly latest: Instant } | null;
};

/** The end of a window that opens now. Throws RangeError where the zone is none. */
export function openedNow(window: DigestWindow, zone: string, now: Instant): WindowEnd {
  switch (window.kind) {
    case 'fixed':
      return { closesAt: now + window.length, slide: null };
    case 'sliding': {
      const latest = now + window.atMost;
      return { closesAt: Math.min(now + window.step, latest), slide: { step: window.step, latest } };
    }
    case 'at':
      return { closesAt: nextWallTime(window.minutes, window.days, zone, now), slide: null };
  }
}

/** Returns the window after one more item: it never closes earlier, and never after its latest end. */
export function extendedBy({ closesAt, slide }: WindowEnd, now: Instant): WindowEnd {
  if (slide === null) return { closesAt, slide };
  return { closesAt: Math.max(closesAt, Math.min(slide.latest, now + slide.step)), slide };
}

/** A week, and what a clock that is put back or a country that leaves a day out adds to it. */
const DAYS_AHEAD = 9;

/** The next instant after `now` at which the clock on the wall shows one of these times on one of these days. */
function nextWallTime(minutes: readonly WallMinute[], days: ReadonlySet<Weekday>, zone: string, now: Instant): Instant {
  const today = localTimeAt(zone, now);
  for (let ahead = 0; ahead <= DAYS_AHEAD; ahead += 1) {
    const day = addDays(today, ahead);
    if (!days.has(weekdayOn(day))) continue;
    const later = minutes.map((minute) => instantAt(zone, day, minute, 'first')).filter((at) => at > now);
    if (later.length > 0) return Math.min(...later);
  }
  throw new RangeError('internal error: the digest window never closes within a week');
}
