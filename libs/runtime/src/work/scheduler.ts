import type { Duration, Instant } from '@carillon/kernel';
import { startLoop } from '../lifecycle/loop.ts';
import { createLanes, type Added, type Lane, type Waiting, type WorkBounds } from './lanes.ts';
import { createUnderWay } from './under-way.ts';

/** What a lane may do at this moment. */
export type LaneLimits = {
  /** Calls at once. */
  readonly places: number;
  /** Calls whose lease is taken ahead, so that a place that becomes free is taken at once. 0 where no lease is taken. */
  readonly ahead: number;
  /** Calls that settle: where that is slow, new ones wait for it. */
  readonly settling: number;
  /** Bytes from the turn until what came of it is stored; one call alone is always begun. */
  readonly held: number;
};

/** What differs between one kind of work and another: whom it waits for, what is done, and what the store is asked. */
export type WorkPolicy<Work> = {
  readonly idOf: (work: Work) => string;
  /** What it takes of the memory, about: known to whoever read it, and not measured again. */
  readonly bytesOf: (work: Work) => number;
  /** Whose it is: owners take turns in a lane, and the store is read for each. */
  readonly ownerOf: (work: Work) => string;
  /** What it waits for, such as a partner or an account: each has a lane, so that a slow one holds up nothing else. */
  readonly laneOf: (work: Work) => string;
  readonly bounds: WorkBounds;
  /** Null: nothing can be done there now. What waits stays in the store, and leases are given back. */
  readonly limits: (lane: Lane<Work>) => LaneLimits | null;
  /** Which of those that wait go into the next call; none: they wait for others, and are asked about soon. */
  readonly pick?: (waiting: readonly Waiting<Work>[], lane: Lane<Work>) => readonly Waiting<Work>[];
  /** Leases are taken before a call has its place, where many can share a visit to the disk. Left out: `run` takes them. */
  readonly leases?: {
    /** Answers those that are ours now. */
    take(lane: string, call: readonly Work[]): Promise<readonly Work[]>;
    give(lane: string, call: readonly Work[]): Promise<void>;
  };
  /**
   * Does it. `called` is to be called once the thing that it waits for is free again; what follows only settles. Answers
   * what is to be queued again at once.
   */
  readonly run: (lane: string, call: readonly Work[], called: () => void) => Promise<readonly Work[]>;
  /** Reads what is due from the store and gives it to `enter`. May answer how soon to read again. */
  readonly read: () => Promise<Duration | void>;
  /** An owner whose work was left in the store is read again as soon as fewer than this wait. */
  readonly readOnBelow: number;
};

export type SchedulerPorts = {
  readonly clock: { readonly now: () => Instant };
  /** Bytes that wait in memory, and calls that are open. */
  readonly changed: (bytes: number, openCalls: number) => void;
  readonly trouble: (where: string, error: unknown) => void;
};

export type Scheduler<Work> = {
  /** Puts work into its lanes and begins what has a place. The store has it anyway. */
  enter(work: readonly Work[]): readonly Added[];
  /** The last reading left work of this owner in the store, or did not. */
  leftInStore(owner: string, more: boolean): void;
  isKnown(id: string): boolean;
  /** How much of a lane the store still shows as due, though it is here: it waits, or its lease is on its way. */
  unleased(lane: string): number;
  openCalls(): number;
  /** Reads the store as soon as it can. */
  nudge(): void;
  /**
   * Ends: nothing more begins, leases of what was not begun are given back, and calls under way get until `deadline`.
   * Answers what is still under way then.
   */
  stop(deadline: Instant): Promise<readonly Work[]>;
  /** Resolves when nothing is under way any more. */
  ended(): Promise<void>;
};

/** The store is read at least this often, whatever hints came. */
const POLL: Duration = 1000;
/** Work that waits for others to share its call is looked at again after this. */
const PICK_AGAIN: Duration = 50;

/**
 * Does work that is due, in its turn: each lane as many calls at a time as it has places. A hint begins it at once, the
 * store is read for what no hint told. Nothing of it is needed for correctness but the store: what dies here is done again.
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

  /** Begins as much as there are places for. Work that ends asks for the next read. A read never asks for another. */
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

  /** A call of a lane went a step on, which may have made room. */
  function advance(lane: Lane<Work>, call: readonly Work[]): void {
    pump(lane);
    readOn(lane, call);
  }

  /** Nothing can be done now: leases are given back, and what waits stays in the store. */
  function empty(lane: Lane<Work>): void {
    for (const owner of lanes.clear(lane)) more.add(owner);
    leasing?.giveBack(lane);
  }

  /** Reads again for those of these of whom there is more in the store, and little left here. */
  function readOn(lane: Lane<Work>, ended: readonly Work[]): void {
    if (more.size === 0 || stopping || policy.limits(lane) === null) return;
    const isShort = (owner: string): boolean => more.has(owner) && lanes.waitingOf(owner) < policy.readOnBelow;
    if (ended.some((work) => isShort(policy.ownerOf(work)))) loop.nudge();
  }

  function enter(work: readonly Work[]): readonly Added[] {
    if (stopping) return work.map(() => 'full');
    const touched = new Set<Lane<Work>>();
    const added = work.map((one) => {
      const lane = lanes.laneOf(policy.laneOf(one));
      touched.add(lane);
      return lanes.add(lane.name, one, clock.now());
    });
    for (const [at, one] of work.entries()) if (added[at] === 'full') more.add(policy.ownerOf(one));
    for (const lane of touched) pump(lane);
    return added;
  }

  async function readDue(): Promise<Duration | void> {
    // The first round begins before the caller has this scheduler, which its policy may use.
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
  /** The place of a call is free, while the call still settles. */
  readonly free: (lane: Lane<Work>, call: readonly Work[]) => void;
  /** A call ended. `again` is to be queued again. */
  readonly ended: (lane: Lane<Work>, call: readonly Work[], again: readonly Work[]) => void;
};

/** Makes calls, and counts those that have a place and those that settle. */
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
  /** The call to take a lease for now. Empty if the lane has enough leases. */
  readonly next: (lane: Lane<Work>) => readonly Work[];
  /** A lease of a call was taken, or was refused. */
  readonly leased: (lane: Lane<Work>, call: readonly Work[]) => void;
};

/** Takes leases ahead of calls, and gives those back whose calls cannot begin. */
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
    /** Takes leases for what comes next, as far ahead as there are places. */
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

/** Looks at lanes again after a moment, once for each lane. */
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
