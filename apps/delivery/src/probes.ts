import type { Duration, Instant } from '@carillon/kernel';
import type { Clock, Ids, LeaseStore } from '@carillon/ports';

export type ProbePorts = {
  readonly leases: LeaseStore;
  readonly ids: Pick<Ids, 'random'>;
  readonly clock: Clock;
  readonly trouble: (where: string, error: unknown) => void;
};

/** Maximum time of a probe before another process may probe the account: the pause after a refused probe. */
const UNDER_WAY: Duration = 60_000;

const nameOf = (account: string): string => `probe of ${account}`;

/**
 * Lets one process at a time probe an account that rejects calls: the holder of the account's lease. The lease lasts
 * for the probe and the pause after it, and is released once the account accepts messages again. If leases cannot be
 * written, each process probes by itself, because otherwise the account would never be tried.
 */
export function createProbes({ leases, ids, clock, trouble }: ProbePorts) {
  const holder = ids.random('request');
  const told = (error: unknown): void => trouble('share the probe of a provider account', error);

  return {
    /** Resolves to true if this process probes the account now. */
    async take(account: string): Promise<boolean> {
      const now = clock.now();
      try {
        return await leases.acquire(nameOf(account), holder, now, now + UNDER_WAY);
      } catch (error) {
        told(error);
        return true;
      }
    },
    /** The account rests until then: no other process tries it before. One that does so already keeps its own time. */
    rests(account: string, until: Instant): void {
      void leases.acquire(nameOf(account), holder, clock.now(), until).catch(told);
    },
    /** The account takes messages again, or was not tried after all. */
    give(account: string): void {
      void leases.release(nameOf(account), holder).catch(told);
    },
  };
}
