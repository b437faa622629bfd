import { durationOr, type Duration, type Instant } from '@carillon/kernel';
import type { DelayBody } from '../configuration/resources.ts';
import { nextLocalTime } from './local-time.ts';
import { wallMinute } from './settings.ts';

/** Longest delay of a message. */
export const LONGEST_DELAY: Duration = 366 * 86_400_000;

/**
 * When a message is due: worked out once, with the intent, from the log time of what caused it, so a replay gives the
 * same. `until` is what the event says, where the delay is of that kind. A time that has passed means at once.
 */
export function dueAt(delay: DelayBody | undefined, causedAt: Instant, zone: string, until: Instant | null): Instant {
  if (delay === undefined) return causedAt;
  if (typeof delay === 'string') return causedAt + durationOr(delay, 0);
  // The very minute counts too.
  if ('local_time' in delay) return nextLocalTime(zone, causedAt - 1, wallMinute(delay.local_time));
  return Math.max(until ?? causedAt, causedAt);
}
