import type { Duration, Instant } from '@carillon/kernel';
import type { Clock } from '@carillon/ports';

const AGAIN: Duration = 60_000;

export type PartnerAlert = (partner: string, detail: string) => void;

/**
 * Reports problems with a platform to the operator, each at most once a minute, so that clients cannot fill the log.
 * Alerts name only configured integrations and secrets, so their number is limited.
 */
export function createPartnerAlerts(clock: Clock, tell: PartnerAlert): PartnerAlert {
  const told = new Map<string, Instant>();
  return (partner, detail) => {
    const now = clock.now();
    const key = `${partner} ${detail}`;
    if (now - (told.get(key) ?? -Infinity) < AGAIN) return;
    for (const [other, at] of told) if (now - at >= AGAIN) told.delete(other);
    told.set(key, now);
    tell(partner, detail);
  };
}
