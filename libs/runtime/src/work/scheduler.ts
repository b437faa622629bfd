import type { Duration, Instant } from '@carillon/kernel';
import { startLoop } from '../lifecycle/loop.ts';
import { createLanes, type Added, type Lane, type Waiting, type WorkBounds } from './lanes.ts';
import { createUnderWay } from './under-way.ts';

/** Current limits of a lane. */
export type LaneLimits = {
  /** Concurrent calls. */
  readonly places: number;
  /** Calls whose lease is taken ahead, so that a free slot is used at once. 0 without leases. */
  readonly ahead: number;
  /** Calls whose result is being stored. New calls wait while this is reached. */
  readonly settling: number;
  /** Bytes from `take` to the stored result. A single call is always allowed. */
  readonly held: number;
};

/** Functions that define a kind of work: its resource, its execution, and its store queries. */
export type WorkPolicy<Work> = {
  readonly idOf: (work: Work) => string;
  /** Approximate memory in bytes, as known by the reader of the piece. */
  readonly bytesOf: (work: Work) => number;
  /** Owner of a piece. Owners take turns within a lane, and the store is read per owner. */
  readonly ownerOf: (work: Work) => string;
  /**
   * Resource that the work needs, such as a partner or account. Each has a lane, so that a slow one delays no other.
   */
  readonly laneOf: (work: Work) => string;
  readonly bounds: WorkBounds;
  /**
   * Returns the limits of a lane, or null if its work cannot run now. Waiting work then stays in the store, and its
   * leases are released.
   */
  readonly limits: (lane: Lane<Work>) => LaneLimits | null;
  /** Picks the pieces of the next call; none to wait for more and be called again soon. */
  readonly pick?: (waiting: readonly Waiting<Work>[], lane: Lane<Work>) => readonly Waiting<Work>[];
  /** Takes leases before calls, so that many share one disk write. Absent if `run` takes them. */
  readonly leases?: {
    /** Resolves to the pieces whose lease was granted. */
    take(lane: string, call: readonly Work[]): Promise<readonly Work[]>;
    give(lane: string, call: readonly Work[]): Promise<void>;
  };
  /**
   * Executes a call. It must call `called` once the resource is free again, before the result is stored. Resolves to
   * pieces to queue again at once.
   */
  readonly run: (lane: string, call: readonly Work[], called: () => void) => Promise<readonly Work[]>;
  /** Reads due work from the store and passes it to `enter`. May resolve to the time until the next read. */
  readonly read: () => Promise<Duration | void>;
  /** Number of an owner's waiting pieces below which its remaining work is read from the store. */
  readonly readOnBelow: number;
};

export type SchedulerPorts = {
  readonly clock: { readonly now: () => Instant };
  /** Called with the bytes waiting in memory and the open calls. */
  readonly changed: (bytes: number, openCalls: number) => void;
  readonly trouble: (where: string, error: unknown) => void;
};

export type Scheduler<Work> = {
  /** Queues work and starts calls that have a free slot. The work is in the store anyway. */
  enter(work: readonly Work[]): readonly Added[];
  /** Records whether the last read left work of this owner in the store. */
  leftInStore(owner: string, more: boolean): void;
  isKnown(id: string): boolean;
  /**
   * Number of a lane's pieces in memory that are still due in the store, because they wait or their lease is being
   * taken.
   */
  unleased(lane: string): number;
  openCalls(): number;
  /** Reads the store as soon as possible. */
  nudge(): void;
  /**
   * Stops: starts no call, releases leases of calls that did not start, and waits for running calls until `deadline`.
   * Resolves to the pieces still running then.
   */
  stop(deadline: Instant): Promise<readonly Work[]>;
  /** Resolves when nothing is running. */
  ended(): Promise<void>;
};

/** Maximum time between reads of the store. */
const POLL: Duration = 1000;
/** Pause before work that waits for a shared call is checked again. */
const PICK_AGAIN: Duration = 50;

/**
 * Runs due work, per lane with as many concurrent calls as its limits allow. A hint starts work at once; reads of the
 * store find work without a hint. The store is the source of truth: after a crash the work is done again.
 */
export function startScheduler<Work>(policy: WorkPolicy<Work>, ports: SchedulerPorts): Scheduler<Work> {
  const { clock, trouble } = ports;
  const lanes = createLanes(policy);
  const underWay = createUnderWay(trouble);
  const more = new Set<string>();
  let stopping = false;

  const calls = createCalls(policy, {
    lanes,
    underWay,
    free: (lane, call) => advance(lane, call),
    ended(lane, call, again) {
      if (!stopping) enter(again);
      advance(lane, call);
    },
  });
  const retries = createRetries<Lane<Work>>((lane) => pump(lane));
  const leasing =
    policy.leases &&
    createLeasing(policy.leases, {
      lanes,
      underWay,
      next(lane) {
        const limits = policy.limits(lane);
        const wanted = limits !== null && lane.leasing + lane.leased.length < limits.ahead;
        return limits ? next(lane, limits, wanted) : [];
      },
      leased: (lane, call) => advance(lane, call),
    });

  /** Starts as many calls as the limits allow. Ended work requests the next read; a read never requests another. */
  function pump(lane: Lane<Work>): void {
    for (;;) {
      const limits = stopping ? null : policy.limits(lane);
      if (limits === null) {
        empty(lane);
        break;
      }
      const call =
        lane.calling < limits.places ? (lane.leased.shift() ?? next(lane, limits, leasing === undefined)) : [];
      if (call.length === 0) {
        leasing?.fill(lane);
        break;
      }
      calls.begin(lane, call);
    }
    ports.changed(lanes.bytes(), calls.open());
  }

  function next(lane: Lane<Work>, limits: LaneLimits, wanted: boolean): readonly Work[] {
    if (!wanted || lane.settling >= limits.settling || lane.held >= limits.held) return [];
    const call = lanes.take(lane);
    if (call.length === 0 && lane.waiting > 0) retries.soon(lane);
    return call;
  }

  /** A call advanced, which may have freed a slot. */
  function advance(lane: Lane<Work>, call: readonly Work[]): void {
    pump(lane);
    readOn(lane, call);
  }

  /** Nothing can run in the lane now: releases leases and leaves waiting work in the store. */
  function empty(lane: Lane<Work>): void {
    for (const owner of lanes.clear(lane)) more.add(owner);
    leasing?.giveBack(lane);
  }

  /** Reads again for owners of ended work that have more in the store and little left in memory. */
  function readOn(lane: Lane<Work>, ended: readonly Work[]): void {
    if (more.size === 0 || stopping || policy.limits(lane) === null) return;
    const isShort = (owner: string): boolean => more.has(owner) && lanes.waitingOf(owner) < policy.readOnBelow;
    if (ended.some((work) => isShort(policy.ownerOf(work)))) loop.nudge();
  }

  function enter(work: readonly Work[]): readonly Added[] {
    if (stopping) return work.map(() => 'full');
    const touched = new Set<Lane<Work>>();
    const added = work.map((piece) => {
      const lane = lanes.laneOf(policy.laneOf(piece));
      touched.add(lane);
      return lanes.add(lane.name, piece, clock.now());
    });
    for (const [at, piece] of work.entries()) if (added[at] === 'full') more.add(policy.ownerOf(piece));
    for (const lane of touched) pump(lane);
    return added;
  }

  async function readDue(): Promise<Duration | void> {
    // The first read waits until the caller has the scheduler, because its policy may use it.
    await Promise.resolve();
    return stopping ? undefined : policy.read();
  }
  const loop = startLoop(POLL, readDue, (error) => trouble('read what is due', error));

  return {
    enter,
    leftInStore: (owner, isMore) => void (isMore ? more.add(owner) : more.delete(owner)),
    isKnown: (id) => lanes.isKnown(id),
    unleased: (name) => unleasedIn(lanes.laneOf(name)),
    openCalls: () => calls.open(),
    nudge: () => loop.nudge(),
    async stop(deadline) {
      stopping = true;
      underWay.begin('read what is due', loop.stop());
      retries.clear();
      for (const lane of lanes.all()) empty(lane);
      await underWay.endedWithin(deadline - clock.now());
      return lanes.all().flatMap((lane) => [...lane.underWay].flat());
    },
    ended: () => underWay.ended(),
  };
}

const unleasedIn = ({ waiting, leasing }: { readonly waiting: number; readonly leasing: number }): number =>
  waiting + leasing;

type CallParts<Work> = {
  readonly lanes: Pick<ReturnType<typeof createLanes<Work>>, 'forget'>;
  readonly underWay: ReturnType<typeof createUnderWay>;
  /** The slot of a call is free while its result is still being stored. */
  readonly free: (lane: Lane<Work>, call: readonly Work[]) => void;
  /** A call ended. `again` has pieces to queue again. */
  readonly ended: (lane: Lane<Work>, call: readonly Work[], again: readonly Work[]) => void;
};

/** Runs calls, and counts those that hold a slot and those whose result is being stored. */
function createCalls<Work>(policy: WorkPolicy<Work>, { lanes, underWay, free, ended }: CallParts<Work>) {
  let openCalls = 0;

  async function run(lane: Lane<Work>, call: readonly Work[]): Promise<void> {
    let isCalling = true;
    const leavePlace = (): void => {
      if (!isCalling) return;
      isCalling = false;
      lane.calling -= 1;
      openCalls -= 1;
    };
    let again: readonly Work[] = [];
    try {
      again = await policy.run(lane.name, call, () => {
        if (!isCalling) return;
        leavePlace();
        lane.settling += 1;
        free(lane, call);
      });
    } finally {
      if (!isCalling) lane.settling -= 1;
      leavePlace();
      lanes.forget(lane, call);
      ended(lane, call, again);
    }
  }

  return {
    begin(lane: Lane<Work>, call: readonly Work[]): void {
      lane.calling += 1;
      openCalls += 1;
      underWay.begin('do what is due', run(lane, call));
    },
    open: (): number => openCalls,
  };
}

type LeasingParts<Work> = {
  readonly lanes: Pick<ReturnType<typeof createLanes<Work>>, 'narrow' | 'forget'>;
  readonly underWay: ReturnType<typeof createUnderWay>;
  /** Returns the next call to lease. Empty if the lane has enough leases. */
  readonly next: (lane: Lane<Work>) => readonly Work[];
  /** The lease of a call was granted or refused. */
  readonly leased: (lane: Lane<Work>, call: readonly Work[]) => void;
};

/** Takes leases ahead of calls, and releases those whose calls cannot start. */
function createLeasing<Work>(
  leases: NonNullable<WorkPolicy<Work>['leases']>,
  { lanes, underWay, next, leased }: LeasingParts<Work>,
) {
  async function take(lane: Lane<Work>, call: readonly Work[]): Promise<void> {
    let ours: readonly Work[] = [];
    try {
      ours = await leases.take(lane.name, call);
    } finally {
      lanes.narrow(lane, call, ours);
      if (ours.length > 0) lane.leased.push(ours);
      lane.leasing -= 1;
      leased(lane, call);
    }
  }

  return {
    /** Takes leases for the next calls, as far ahead as the limits allow. */
    fill(lane: Lane<Work>): void {
      for (let call = next(lane); call.length > 0; call = next(lane)) {
        lane.leasing += 1;
        underWay.begin('take a lease', take(lane, call));
      }
    },
    giveBack(lane: Lane<Work>): void {
      for (const call of lane.leased.splice(0)) {
        const given = leases.give(lane.name, call);
        underWay.begin(
          'give a lease back',
          given.finally(() => lanes.forget(lane, call)),
        );
      }
    },
  };
}

/** Repeats `again` after a moment, once per key. */
function createRetries<Key>(again: (key: Key) => void) {
  const timers = new Map<Key, NodeJS.Timeout>();
  return {
    soon(key: Key): void {
      if (timers.has(key)) return;
      const timer = setTimeout(() => {
        timers.delete(key);
        again(key);
      }, PICK_AGAIN);
      timers.set(key, timer);
    },
    clear(): void {
      for (const timer of timers.values()) clearTimeout(timer);
    },
  };
}
