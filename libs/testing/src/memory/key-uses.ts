import type { Instant } from '@carillon/kernel';
import type { KeyUse, KeyUseStore } from '@carillon/ports';
import type { Wire } from './wire.ts';

/** The newest use of each key. */
export function createMemoryKeyUses() {
  const stored = new Map<string, Instant>();

  function record(uses: readonly KeyUse[]): void {
    for (const { keyId, at } of uses) stored.set(keyId, Math.max(at, stored.get(keyId) ?? at));
  }

  return {
    connect: (wire: Wire): KeyUseStore => ({
      record: (uses) => wire.ask('keyUses.record', () => record(uses), { writes: true }),
      lastUses: (keyIds) =>
        wire.ask(
          'keyUses.lastUses',
          () =>
            new Map(
              keyIds.flatMap((id) => {
                const at = stored.get(id);
                return at === undefined ? [] : [[id, at] as const];
              }),
            ),
        ),
    }),
  };
}
