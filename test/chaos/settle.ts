import { setTimeout as pause } from 'node:timers/promises';
import type { DeliveryState } from '@carillon/domain/deliveries';
import { readBehind, readUnread, type Evidence, type Stores } from '../harness/evidence.ts';
import type { Finding } from '../harness/promises.ts';

/** What a running product has still to do. */
export type Progress = {
  readonly counts: Readonly<Partial<Record<DeliveryState, number>>>;
  /** Partitions that a stage has not read to their end, and partners that are to be asked. */
  readonly unread: readonly string[];
  /** Projections behind the log, and outcomes that are in the ledger alone: nobody waits a minute for these and no more. */
  readonly behind: readonly string[];
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

/** How long somebody waits; left out: longer than any lease, its sweep and a session of a consumer. */
export type Patience = Pick<Settling, 'quiet' | 'standstill'>;

/** How a product that nobody disturbs came to rest. */
export type Settled = {
  /** From `since` until everything had ended or was in doubt, or until something moved for the last time. */
  readonly after: number;
  /** What nobody had done when nothing moved any more; nothing, where it is at rest. */
  readonly open: readonly string[];
  /** Deliveries that there should have been, in words. */
  readonly missing: readonly string[];
};

/** What a product that came to rest left behind. */
export type Rest = {
  readonly evidence: Evidence;
  /** From the last fault until everything had ended or was in doubt. */
  readonly settledAfter: number;
  /** What nobody had done when nothing moved any more in the running product: a stage, a projection or a sweeper stands still. */
  readonly leftOpen: readonly string[];
};

/**
 * How much slower this machine is than the one for which the promise of a minute is made (two free cores): set by hand
 * for a run on a machine that is known to be starved, to tell what is late from what is stuck. It is no figure that
 * anything is derived from, and CI does not set it: there the promise is a minute, as it is for operators.
 */
export const SLOWNESS = Number(process.env['CRASH_SLOWNESS'] ?? 1);

/** What is promised (design): so long after the last fault everything has ended or is in doubt. Most of it is leases. */
export const SETTLED_WITHIN = 60_000 * SLOWNESS;

/** Beyond it nobody waits any longer, even where something still moves: slow is told from stuck. */
const WAITS_FOR = 3 * SETTLED_WITHIN;
/** The same for projections, which are promised nothing but to come to the end. */
const WAITS_FOR_PROJECTIONS = 2 * WAITS_FOR;
/** Longer than a lease, its sweep and a session of a consumer: nothing moves any more. */
const STANDSTILL = 40_000;
const QUIET = 20_000;
const LOOKS_EVERY = 250;
/**
 * One look reads one store after the other: what went from one to the next meanwhile is seen by a later one. So nothing
 * may have moved for so long before it counts as at rest.
 */
const AT_REST = 2 * LOOKS_EVERY;

/** Waits until nothing is left to do, or does not get done any more. */
export async function settle(look: () => Promise<Progress>, settling: Settling): Promise<Settled> {
  const { since, slots = 0, quiet = QUIET, standstill = STANDSTILL } = settling;
  let last = '';
  let moved = Date.now();
  let endedAfter: number | undefined;
  for (;;) {
    const progress = await look();
    const now = JSON.stringify(progress);
    if (now !== last) moved = Date.now();
    last = now;
    const { promised, missing } = leftOf(progress, slots);
    const open = [...promised, ...progress.behind];
    const isEnded = promised.length + missing.length === 0;
    endedAfter = isEnded ? (endedAfter ?? moved - since) : undefined;
    const patience = open.length > 0 ? standstill : missing.length > 0 ? quiet : AT_REST;
    const waitsFor = isEnded ? WAITS_FOR_PROJECTIONS : WAITS_FOR;
    const isOver = Date.now() - moved >= patience || Date.now() - since > waitsFor;
    if (isOver) return { after: Math.max(0, endedAfter ?? moved - since), open, missing };
    await pause(LOOKS_EVERY);
  }
}

type Left = { readonly promised: readonly string[]; readonly missing: readonly string[] };

function leftOf({ counts, unread }: Progress, slots: number): Left {
  const { WAITING: waiting = 0, SENDING: sending = 0 } = counts;
  const all = Object.values(counts).reduce((sum, count) => sum + count, 0);
  return {
    promised: [...unread, ...(waiting + sending > 0 ? [`${waiting} WAITING, ${sending} SENDING`] : [])],
    missing: all < slots ? [`${all} of ${slots} deliveries are there`] : [],
  };
}

/** Looks at log and stores, as each of the product's own processes reads them. */
export const lookAt = (stores: Stores) => async (): Promise<Progress> => ({
  counts: await stores.ledger.countByState(),
  unread: await readUnread(stores),
  behind: await readBehind(stores),
});

/** What is left undone though the fault is over would need a restart. */
export const standingStill = ({ open, missing }: Settled): readonly Finding[] =>
  [...open, ...missing].map((what) => ({ kind: 'stuck', what: `it does not go on in this life: ${what}` }));
