import type { Duration, Instant } from '@carillon/kernel';
import type { KeyUseStore } from '@carillon/ports';
import { startLoop } from '@carillon/runtime';

/** The time between two reports of one key, however often it is used. */
const REPORT_INTERVAL_MS = 60_000;
/** Maximum number of remembered keys. Beyond it the key reported longest ago is forgotten and may be reported again. */
const MAX_KEYS = 10_000;
const CLOSE_TIMEOUT_MS = 1000;

export type KeyUses = {
  /** Records a use in a map. It is written to the store later, outside of requests. */
  note(keyId: string, at: Instant): void;
  /** Tells the rest, if the store takes it soon. */
  close(): Promise<void>;
};

/** Tells the store when keys were used: in batches, each key at most once a minute, and again what the store refused. */
export function startKeyUses(
  store: Pick<KeyUseStore, 'record'>,
  every: Duration,
  failed: (error: unknown) => void,
): KeyUses {
  const told = new Map<string, Instant>();
  const pending = new Map<string, Instant>();

  async function tell(): Promise<void> {
    if (pending.size === 0) return;
    const uses = [...pending].map(([keyId, at]) => ({ keyId, at }));
    pending.clear();
    try {
      await store.record(uses);
    } catch (error) {
      for (const { keyId, at } of uses) pending.set(keyId, Math.max(at, pending.get(keyId) ?? at));
      throw error;
    }
  }
  const loop = startLoop(every, tell, failed);

  return {
    note(keyId, at) {
      // A clock that was set back may be told of once more.
      if (Math.abs(at - (told.get(keyId) ?? Number.NEGATIVE_INFINITY)) < REPORT_INTERVAL_MS) return;
      told.delete(keyId);
      told.set(keyId, at);
      pending.set(keyId, at);
      for (const oldest of told.keys()) {
        if (told.size <= MAX_KEYS) break;
        told.delete(oldest);
      }
    },
    async close() {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, CLOSE_TIMEOUT_MS);
      });
      const rest = loop.stop().then(tell);
      await Promise.race([rest.catch(failed), late]);
      clearTimeout(timer);
    },
  };
}
