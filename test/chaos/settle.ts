import { setTimeout as pause } from 'node:timers/promises';
import type { DeliveryState } from '@carillon/domain';
import { readUnread, type Stores } from './evidence.ts';
import type { Finding } from './verdict.ts';

/** What a running product has still to do. */
export type Progress = {
  readonly counts: Readonly<Partial<Record<DeliveryState, number>>>;
  /** Partitions that a stage has not read to their end, and partners that are to be asked. */
  readonly unread: readonly string[];
};

export type Settling = {
  /** The last fault, or the last 202 where that came later. */
  readonly since: number;
  /** Deliveries that there have to be; left out: nobody knows how many. */
  readonly slots?: number;
  /** Nothing is open and no delivery came for so long: what is missing does not come. */
  readonly quiet?: number;
  /** Nothing moved for so long: what is open stays so. */
  readonly standstill?: number;
};

/** How a product that nobody disturbs came to rest. */
export type Settled = {
  /** From `since` until it was at rest, or until something moved for the last time. */
  readonly after: number;
  /** What it had left undone then; nothing, where it is at rest. */
  readonly left: readonly string[];
};

/** How much slower this machine is than it should be. Leases are as long on any machine, work is not. */
export const SLOWNESS = Number(process.env['CRASH_SLOWNESS'] ?? 1);

/** What is promised (design): so long after the last fault everything has ended or is in doubt. */
export const SETTLED_WITHIN = 60_000 * SLOWNESS;

/** Beyond it nobody waits any longer, even where something still moves: slow is told from stuck. */
const WAITS_FOR = 3 * SETTLED_WITHIN;
/** Longer than a lease, its sweep and a session of a consumer: nothing moves any more. */
const STANDSTILL = 40_000;
const QUIET = 20_000;
const LOOKS_EVERY = 250;

/** Waits until nothing is left to do, or does not get done any more. */
export async function settle(look: () => Promise<Progress>, settling: Settling): Promise<Settled> {
  const { since, slots = 0, quiet = QUIET, standstill = STANDSTILL } = settling;
  let last = '';
  let moved = Date.now();
  for (;;) {
    const progress = await look();
    const now = JSON.stringify(progress);
    if (now !== last) moved = Date.now();
    last = now;
    const { open, missing } = leftOf(progress, slots);
    const patience = open.length > 0 ? standstill : missing.length > 0 ? quiet : 0;
    const isOver = Date.now() - moved >= patience || Date.now() - since > WAITS_FOR;
    if (isOver) return { after: Math.max(0, moved - since), left: [...open, ...missing] };
    await pause(LOOKS_EVERY);
  }
}

type Left = { readonly open: readonly string[]; readonly missing: readonly string[] };

function leftOf({ counts, unread }: Progress, slots: number): Left {
  const { WAITING: waiting = 0, SENDING: sending = 0 } = counts;
  const all = Object.values(counts).reduce((sum, count) => sum + count, 0);
  return {
    open: [...unread, ...(waiting + sending > 0 ? [`${waiting} WAITING, ${sending} SENDING`] : [])],
    missing: all < slots ? [`${all} of ${slots} deliveries are there`] : [],
  };
}

/** Of log and stores, as each of the product's own processes reads them. */
export const lookAt = (stores: Stores) => async (): Promise<Progress> => ({
  counts: await stores.ledger.countByState(),
  unread: await readUnread(stores),
});

/** What is left undone though the fault is over would need a restart. */
export const standingStill = ({ left }: Settled): readonly Finding[] =>
  left.map((what) => ({ kind: 'stuck', what: `it does not go on in this life: ${what}` }));
