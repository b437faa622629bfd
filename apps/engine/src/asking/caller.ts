import type { LookupIntegration } from '@carillon/domain/configuration';
import { lookupTimeouts, partnerTitle, type Partner } from '@carillon/domain/lookups';
import type { Duration } from '@carillon/kernel';
import type {
  Clock,
  ConfigurationView,
  DueTask,
  DueTasks,
  Ids,
  PartnerLookup,
  Secrets,
  TaskQueue,
} from '@carillon/ports';
import {
  createUnderWay,
  startScheduler,
  type Added,
  type Lane,
  type LaneLimits,
  type Waiting,
  type WorkPolicy,
} from '@carillon/runtime';
import { leaseTasks, partnerOf, readTask, releaseTasks, type AskTask, type VerdictPorts } from '@carillon/stages';
import { createCalls } from './calls.ts';
import { createPartners, type Partners } from './partners.ts';
import { createRecorder } from './recorder.ts';
import { pickCall } from './shared-calls.ts';
import { createVerdicts } from './verdicts.ts';
import type { AskWatch } from './watch.ts';

export type CallerPorts = VerdictPorts & {
  readonly tasks: DueTasks;
  readonly partners: PartnerLookup;
  readonly configuration: Pick<ConfigurationView, 'current'>;
  readonly secrets: Secrets;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly watch: AskWatch;
};

export type Caller = {
  /** Hints that these tasks are due. They are in the store anyway. */
  readonly offer: (tasks: readonly AskTask[]) => void;
  /** Stops: starts no new call, waits a moment for running ones, then aborts them to be repeated later. */
  stop(): Promise<void>;
};

/** Bytes of all tasks waiting in memory. Each partner has a share. */
const QUEUE_BYTES = 32 * 1024 * 1024;
/** Waiting tasks per partner in memory; more stay in the store. */
const MAX_OF_LANE = 512;
/** Concurrent calls per partner. */
const CALLS_OF_PARTNER = 64;
const CALLS = 1024;
/**
 * Calls for which leases are taken ahead, so that a free slot is used at once. Many leases share one disk write. If
 * calls are shorter than a write, leases for the calls of `AHEAD_SPAN` are taken.
 */
const AHEAD = 64;
const AHEAD_SPAN: Duration = 500;
const MAX_AHEAD = 512;
/** Number of recent calls over which a partner's speed is averaged. */
const LATEST = 16;
/** Assumed call time of a partner that was not called yet. */
const SLOW: Duration = 1000;
/** Answers per partner being written to store and log, each with three disk writes. Further calls wait for them. */
const SETTLING = 1024;
/** Bytes of a partner's triggers from lease to stored result. A single trigger is always taken. */
const HELD_BYTES = 32 * 1024 * 1024;
const PAGE = 256;
const LEASE_MARGIN: Duration = 10_000;
const CALLS_END: Duration = 5_000;

/**
 * Calls partners for due triggers. A slow partner delays only its own queue; a partner that must not be called now
 * keeps nothing in memory. The store is the source of truth: after a crash the calls are repeated.
 */
export function startCaller(ports: CallerPorts): Caller {
  const { clock, tasks, watch, ids } = ports;
  const trouble = (where: string, error: unknown): void => watch.trouble(where, error);
  const partners = createPartners({ ...ports, alert: watch.partnerAlert, changed: watch.partnerState });
  const givingUp = new AbortController();
  const recorder = createRecorder({
    log: ports.log,
    givingUp: givingUp.signal,
    refused: (error) => watch.trouble('record decided answers: no partner is called until the log accepts them', error),
    taken: () => scheduler.nudge(),
  });
  const verdictPorts: VerdictPorts = { ...ports, log: recorder.log };
  const publishing = createUnderWay(trouble);
  const verdicts = createVerdicts({
    verdicts: verdictPorts,
    underWay: publishing,
    isAsked: (id) => scheduler.isKnown(id),
    hasRoom: () => scheduler.nudge(),
  });
  const calls = createCalls({
    clock,
    ids,
    partners,
    watch,
    verdicts: verdictPorts,
    lookup: ports.partners,
    givingUp: givingUp.signal,
  });
  const lanes = createPartnerLanes();
  const paces = createPaces();
  const callable = (partner: Partner): boolean => {
    const now = clock.now();
    return !recorder.refuses() && (partners.mayCallAt(partner, now) ?? Number.POSITIVE_INFINITY) <= now;
  };
  const limitsIn = (lane: string): LaneLimits | null =>
    callable(lanes.partnerIn(lane)) ? paces.limitsOf(lane, scheduler.openCalls()) : null;

  const isLate = ({ deadline }: DueTask): boolean => deadline !== null && deadline <= clock.now();
  const needsNoCall = (task: AskTask): boolean => task.asking.verdict !== null || isLate(task.task);

  /** Accepts due tasks: settles those that need no call, and queues the rest. */
  function takeUp(due: readonly AskTask[]): readonly Added[] {
    const settled = due.filter(needsNoCall).map((task) => verdicts.take(task));
    return [...settled, ...scheduler.enter(due.filter((task) => !needsNoCall(task)))];
  }

  async function ask(lane: string, shared: readonly AskTask[], called: () => void): Promise<readonly AskTask[]> {
    const startedAt = clock.now();
    const partner = lanes.partnerIn(lane);
    partners.begin(partner);
    const waiting = await calls.ask(partner, shared, () => {
      paces.note(lane, clock.now() - startedAt);
      called();
    });
    const due = waiting.filter(({ task }) => task.nextAt <= clock.now());
    for (const task of due.filter(needsNoCall)) verdicts.take(task);
    return due.filter((task) => !needsNoCall(task));
  }

  async function readQueue(queue: TaskQueue): Promise<void> {
    const now = clock.now();
    const lane = lanes.laneOf(queue);
    const isOpen = callable(partnerOf(queue));
    // Tasks in memory stay due in the store until their leases are written.
    const most = PAGE + scheduler.unleased(lane);
    const found = await tasks.due(queue, now, most);
    const page = found.filter((task) => !scheduler.isKnown(task.id) || isLate(task)).map(readTask);
    // While the partner must not be called, only tasks that need no call are accepted.
    const ready = isOpen ? page : page.filter(({ asking }) => asking.verdict !== null);
    const late = isOpen ? [] : (await tasks.overdue(queue, now, PAGE)).map(readTask);
    const added = takeUp([...ready, ...late]);
    scheduler.leftInStore(lane, found.length === most || added.includes('full'));
  }

  const policy: WorkPolicy<AskTask> = {
    idOf: ({ task }) => task.id,
    bytesOf: ({ task }) => 500 + task.data.length * 2,
    ownerOf: ({ task }) => lanes.laneOf(task.queue),
    laneOf: ({ task }) => lanes.laneOf(task.queue),
    bounds: { bytes: QUEUE_BYTES, ofLane: { bytes: QUEUE_BYTES / 8, pieces: MAX_OF_LANE } },
    limits: ({ name }) => limitsIn(name),
    pick: (waiting, lane) => pickOf(waiting, lane, lanes.partnerIn(lane.name), { partners, clock, ids }),
    leases: {
      take: (lane, call) => leaseTasks(call, clock.now() + leaseSpanOf(partners.find(lanes.partnerIn(lane))), ports),
      give: async (_lane, call) => void (await releaseTasks(call, clock.now(), ports)),
    },
    run: ask,
    async read() {
      partners.tell();
      if (recorder.refuses()) return;
      for (const queue of await tasks.dueQueues(clock.now())) await readQueue(queue);
    },
    readOnBelow: PAGE / 2,
  };
  const scheduler = startScheduler(policy, { clock, changed: watch.asking, trouble });

  return {
    offer: (offered) => void takeUp(offered.filter(({ task }) => callable(partnerOf(task.queue)))),
    async stop() {
      const deadline = clock.now() + CALLS_END;
      await scheduler.stop(deadline);
      await publishing.endedWithin(deadline - clock.now());
      givingUp.abort();
      await scheduler.ended();
      await publishing.ended();
    },
  };
}

/** Picks the tasks of the next call to a partner. An unknown partner is not called. */
function pickOf(
  waiting: readonly Waiting<AskTask>[],
  lane: Lane<AskTask>,
  partner: Partner,
  { partners, clock, ids }: Pick<CallerPorts, 'clock' | 'ids'> & { readonly partners: Partners },
): readonly Waiting<AskTask>[] {
  const integration = partners.find(partner);
  const picking = { now: clock.now(), most: partners.apart(partner), chance: ids.chance() };
  return integration ? pickCall(waiting, lane, { integration, ...picking }) : [];
}

/**
 * Returns the lease duration of a call. With two keys there may be two calls, and a slot may only free up when another
 * call ends.
 */
const leaseSpanOf = (integration: LookupIntegration | null): Duration =>
  integration ? 3 * lookupTimeouts(integration).total + LEASE_MARGIN : LEASE_MARGIN;

/** Maps partners to queues and back. */
function createPartnerLanes() {
  const partners = new Map<string, Partner>();
  return {
    laneOf(queue: TaskQueue): string {
      const partner = partnerOf(queue);
      const lane = partnerTitle(partner);
      partners.set(lane, partner);
      return lane;
    },
    partnerIn(lane: string): Partner {
      const partner = partners.get(lane);
      if (!partner) throw new Error(`internal error: the queue of partner lookups ${lane} is unknown`);
      return partner;
    },
  };
}

/** Average call time per queue, and the resulting numbers of calls and leases. */
function createPaces() {
  const averages = new Map<string, Duration>();
  return {
    /** Adds the duration of a call. Recent calls count most. */
    note(lane: string, span: Duration): void {
      const known = averages.get(lane) ?? SLOW;
      averages.set(lane, known + (span - known) / LATEST);
    },
    /** With more open calls each partner's share shrinks, but never to zero. */
    limitsOf(lane: string, openCalls: number): LaneLimits {
      const places = Math.min(CALLS_OF_PARTNER, Math.max(4, Math.floor((CALLS - openCalls) / 4)));
      const needed = Math.floor((places * AHEAD_SPAN) / Math.max(1, averages.get(lane) ?? SLOW));
      const ahead = Math.min(MAX_AHEAD, Math.max(AHEAD, needed));
      return { places, ahead, settling: SETTLING, held: HELD_BYTES };
    },
  };
}
