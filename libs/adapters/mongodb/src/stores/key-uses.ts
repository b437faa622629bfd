import type { KeyUseStore } from '@carillon/ports';
import type { Attempt } from '../attempts.ts';
import type { Collections } from '../collections.ts';
import { upsertGuarded } from '../compare-and-set.ts';
import { RetryFromStart } from '../failures.ts';
import { inRuns } from '../adaptive-batches.ts';

export const createKeyUseStore = ({ keyUses }: Collections, attempt: Attempt): KeyUseStore => ({
  async record(uses) {
    const newest = new Map<string, number>();
    for (const { keyId, at } of uses) newest.set(keyId, Math.max(at, newest.get(keyId) ?? at));
    const writes = [...newest].map(([id, usedAt]) => ({ id, guard: { usedAt: { $lt: usedAt } }, fields: { usedAt } }));
    await inRuns(writes, (run) =>
      attempt(async () => {
        const refused = await upsertGuarded(keyUses, run);
        const ids = [...refused].flatMap((place) => run[place]?.id ?? []);
        if (ids.length === 0) return [];
        // Refused because what is there is newer, or because two first uses met.
        const stored = await keyUses.find({ _id: { $in: ids } }).toArray();
        const older = stored.some(({ _id, usedAt }) => usedAt < (newest.get(_id) ?? 0));
        if (older || stored.length < ids.length) throw new RetryFromStart('another process is writing the use');
        return [];
      }),
    );
  },
  async lastUses(keyIds) {
    const found = await attempt(() => keyUses.find({ _id: { $in: [...keyIds] } }).toArray());
    return new Map(found.map(({ _id, usedAt }) => [_id, usedAt]));
  },
});
