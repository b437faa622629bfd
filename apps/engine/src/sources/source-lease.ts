import type { Duration, Instant } from '@carillon/kernel';
import type { Clock, LeaseStore } from '@carillon/ports';

export type SourceLeaseOptions = {
  readonly name: string;
  /** Names this process. */
  readonly holder: string;
  /** The lease is renewed after a third of this time. */
  readonly leaseMs: Duration;
};

export type SourceLease = {
  /** Takes or renews the lease if that is due. Resolves to true if this process may read. */
  hold(): Promise<boolean>;
  release(): Promise<void>;
};

/** The lease of one source, so that one of several engines reads it. */
export function createSourceLease(
  { leases, clock }: { readonly leases: LeaseStore; readonly clock: Clock },
  { name, holder, leaseMs }: SourceLeaseOptions,
): SourceLease {
  let heldUntil: Instant = Number.NEGATIVE_INFINITY;
  return {
    async hold() {
      const now = clock.now();
      if (now < heldUntil - (leaseMs * 2) / 3) return true;
      if (await leases.acquire(name, holder, now, now + leaseMs)) heldUntil = now + leaseMs;
      else heldUntil = Number.NEGATIVE_INFINITY;
      return clock.now() < heldUntil;
    },
    async release() {
      heldUntil = Number.NEGATIVE_INFINITY;
      await leases.release(name, holder);
    },
  };
}

/** A process that is alone on its store needs no lease. */
export const NO_LEASE: SourceLease = { hold: async () => true, release: async () => undefined };
