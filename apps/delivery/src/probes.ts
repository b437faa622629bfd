import type { Duration, Instant } from '@carillon/kernel';
import type { Clock, Ids, LeaseStore } from '@carillon/ports';

export type ProbePorts = {
  readonly leases: LeaseStore;
  readonly ids: Pick<Ids, 'random'>;
  readonly clock: Clock;
  readonly trouble: (where: string, error: unknown) => void;
};

/** How long a probe may be under way before another process may try the account: the pause after one that was refused. */
const UNDER_WAY: Duration = 60_000;

const nameOf = (account: string): string => `probe of ${account}`;

/**
 * Sees to it that of all processes one tries an account that rests: whoever holds the account's lease. The lease lasts through the
 * probe and the pause after it, and is given back where the account takes messages again, so that the others find it free.
 * Where the leases cannot be written, each process tries by itself: an account that nobody tries would rest for ever.
 */
export function createProbes({ leases, ids, clock, trouble }: ProbePorts) {
  const holder = ids.random('request');
  const told = (error: unknown): void => trouble('share the probe of a provider account', error);

  return {
    /** Whether this process is the one that tries the account now. */
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
