import type { LeaseStore } from '@carillon/ports';
import type { Attempt } from '../attempts.ts';
import type { Collections } from '../collections.ts';
import { upsertGuarded } from '../compare-and-set.ts';
import { RetryFromStart } from '../failures.ts';

export const createLeaseStore = ({ leases }: Collections, attempt: Attempt): LeaseStore => ({
  acquire: (name, holder, now, until) =>
    attempt(async () => {
      const guard = { $or: [{ holder }, { until: { $lte: now } }] };
      const refused = await upsertGuarded(leases, [{ id: name, guard, fields: { holder, until } }]);
      if (refused.size === 0) return true;
      const stored = await leases.findOne({ _id: name });
      if (stored && stored.holder !== holder && stored.until > now) return false;
      throw new RetryFromStart('another process is writing the lease');
    }),
  async release(name, holder) {
    await attempt(() => leases.deleteOne({ _id: name, holder }));
  },
});
