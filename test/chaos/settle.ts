import { setTimeout as pause } from 'node:timers/promises';
import { readUnread, type Stores } from '../evidence.ts';

/** Beyond it nobody waits any longer, even where something still moves, as on a machine that is much too busy. */
const SETTLES_WITHIN = 180_000;
/** Longer than a lease, its sweep and a session of a consumer: nothing moves any more. */
const QUIET = 40_000;

/** Waits until nothing is unread and no delivery is open, or nothing moves for so long; answers how long since then. */
export async function settle(stores: Stores, since: number, quiet = QUIET): Promise<number> {
  let last = '';
  let changed = Date.now();
  for (;;) {
    const counts = await stores.ledger.countByState();
    const unread = await readUnread(stores);
    const open = (counts.WAITING ?? 0) + (counts.SENDING ?? 0);
    const now = JSON.stringify([counts, unread]);
    if (now !== last) changed = Date.now();
    last = now;
    const over = Date.now() - since > SETTLES_WITHIN || Date.now() - changed > quiet;
    if ((open === 0 && unread.length === 0) || over) return Date.now() - since;
    await pause(250);
  }
}
