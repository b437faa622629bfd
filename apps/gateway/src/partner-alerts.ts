import type { Duration, Instant } from '@carillon/kernel';
import type { Clock } from '@carillon/ports';

const AGAIN: Duration = 60_000;

export type PartnerAlert = (partner: string, detail: string) => void;

/**
 * Tells the operator what is wrong between us and a platform, each thing at most once a minute: whoever sends requests must
 * not be able to fill the log. What is told names integrations and secrets of the configuration only, so there are few.
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
