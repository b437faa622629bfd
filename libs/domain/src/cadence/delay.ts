import type { Duration, Instant } from '@carillon/kernel';
import { nextLocalTime, type WallMinute } from './local-time.ts';

/** How long a message is put off. */
export type Delay =
  | { readonly kind: 'fixed'; readonly span: Duration }
  | { readonly kind: 'until'; readonly at: Instant }
  | { readonly kind: 'local_time'; readonly minute: WallMinute };

/** Nothing is put off for longer (delivery.md section 2). */
export const LONGEST_DELAY: Duration = 366 * 86_400_000;

/**
 * When a message is due: worked out once, with the intent, from the log time of what caused it, so a replay gives the
 * same. A time that has passed means at once. Undefined: it would be put off for more than 366 days.
 */
export function sendAtOf(delay: Delay, causedAt: Instant, zone: string): Instant | undefined {
  const at =
    delay.kind === 'fixed'
      ? causedAt + delay.span
      : delay.kind === 'until'
        ? delay.at
        : nextLocalTime(zone, causedAt - 1, delay.minute);
  return at - causedAt > LONGEST_DELAY ? undefined : Math.max(at, causedAt);
}
