import { lookupTimeouts, type PartnerState } from '@carillon/domain';
import { createByteBudget, type Duration } from '@carillon/kernel';
import type { Clock, ConfigurationView, DueTasks, Ids, PartnerAnswer, PartnerLookup, Secrets } from '@carillon/ports';
import { pause, startLoop, type Loop } from '@carillon/runtime';
import {
  expireTask,
  leaseTasks,
  partnerOfKind,
  publishVerdict,
  readTask,
  releaseTasks,
  settleCall,
  type AskTask,
  type VerdictPorts,
} from '@carillon/stages';
import { COLLECT, createLanes, idsOfCall, type Lane } from './lanes.ts';
import { createPartners, type OpenPartner } from './partners.ts';
import { createRecorder } from './recorder.ts';

export type AskWatch = {
  /** Called right before a partner is; the answer is called with what came of it. */
  call(begun: {
    readonly partner: string;
    readonly workspace: string;
    readonly triggers: number;
    readonly traceparent: string | null;
  }): (ended: {
    readonly outcome: PartnerAnswer['kind'];
    readonly status: number | null;
    readonly seconds: number;
  }) => void;
  /** Bytes of triggers that wait in memory, and calls that are open. */
  readonly asking: (bytes: number, openCalls: number) => void;
  /** A partner refuses us, or fails: an operator should look. */
  readonly partnerAlert: (partner: string, detail: string) => void;
  readonly partnerState: (partner: string, state: PartnerState) => void;
  trouble(where: string, error: unknown): void;
};

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
  /** A hint that these are due; the store has them anyway. */
  readonly offer: (tasks: readonly AskTask[]) => void;
  /** Ends: no new call begins; those under way get a moment, then they are given up, to be made again later. */
  stop(): Promise<void>;
};

/** One bound for everything that waits in memory, and one for answers that are being read; each partner has a share of them. */
const QUEUE_BYTES = 32 * 1024 * 1024;
const ANSWER_BYTES = 64 * 1024 * 1024;
/** Calls open at once: of one partner, and of all together. */
const CALLS_OF_PARTNER = 64;
const CALLS = 1024;
/**
 * Leases are taken ahead of the calls, so that a place that becomes free is taken at once. A lease is a visit to the disk
 * that many can share: where calls are shorter than that, as many are taken as will be called in `AHEAD_SPAN`.
 */
const AHEAD = 64;
const AHEAD_SPAN: Duration = 500;
const MOST_AHEAD = 512;
/** The latest call counts as one of so many when its partner's speed is judged. */
const LATEST = 16;
/** Answers on their way to the store and the log, of which each waits for the disk three times; more of one partner wait for these. */
const SETTLING = 1024;
/** Triggers of one partner from their lease until what came of them is stored; one alone is always taken. */
const HELD_BYTES = 32 * 1024 * 1024;
/** What was decided before and is put on the log at once: so many, and so many bytes; the rest stays in the store. */
const RECORDED = 64;
const RECORDED_BYTES = 32 * 1024 * 1024;
const PAGE = 256;
/** The store is asked at least this often, whatever hints came. */
const POLL: Duration = 1000;
const LEASE_MARGIN: Duration = 10_000;
const CALLS_END: Duration = 5_000;

/**
 * Asks partners about the triggers that are due. A slow partner holds up its own lane alone; one that may not be called
 * now keeps nothing in memory. Nothing of it is needed for correctness but the store: what dies here is asked again.
 */
export function startCaller(ports: CallerPorts): Caller {
  const { clock, tasks, watch } = ports;
  const lanes = createLanes(QUEUE_BYTES);
  const partners = createPartners({ ...ports, alert: watch.partnerAlert, changed: watch.partnerState });
  const answers = createByteBudget(ANSWER_BYTES, { shared: true });
  const stopping = new AbortController();
  const givingUp = new AbortController();
  const underWay = new Set<Promise<void>>();
  const recorder = createRecorder({
    log: ports.log,
    givingUp: givingUp.signal,
    refused: (error) => watch.trouble('record what is decided: nobody is asked until the log takes it', error),
    taken: () => loop.nudge(),
  });
  const verdicts: VerdictPorts = { ...ports, log: recorder.log };
  const recorded = createByteBudget(RECORDED_BYTES);
  const recording = new Set<string>();
  let openCalls = 0;

  /** Work that nobody waits for, but that `stop` does. */
  function background(where: string, work: Promise<void>): void {
    const watched = work.catch((error: unknown) => watch.trouble(where, error)).finally(() => underWay.delete(watched));
    underWay.add(watched);
  }

  function take(one: AskTask): 'taken' | 'known' | 'full' {
    const { deadline } = one.task;
    const isLate = deadline !== null && deadline <= clock.now();
    return one.asking.verdict || isLate ? record(one) : lanes.add(one, clock.now());
  }

  /** Puts on the log what is decided, or that it is too late. */
  function record(one: AskTask): 'taken' | 'known' | 'full' {
    const { id, data } = one.task;
    const isDecided = one.asking.verdict !== null;
    if (recording.has(id) || (isDecided && lanes.isKnown(id))) return 'known';
    const room = recorded.open();
    // One alone is always taken, however large.
    const fits = recording.size < RECORDED && room.take(data.length * 2);
    if (!fits && recording.size > 0) return 'full';
    recording.add(id);
    const done = isDecided ? publishVerdict(one, verdicts) : expireTask(one, verdicts);
    background(
      'put a verdict on the log',
      done.finally(() => {
        recording.delete(id);
        room.close();
        if (recording.size === RECORDED / 2) loop.nudge();
      }),
    );
    return 'taken';
  }

  const callable = (kind: string): boolean => {
    const now = clock.now();
    return !recorder.refuses() && (partners.mayCallAt(kind, now) ?? Number.POSITIVE_INFINITY) <= now;
  };
  /** The fuller the process, the smaller the share of each partner; none is ever kept out. */
  const placesOf = (): number => Math.min(CALLS_OF_PARTNER, Math.max(4, Math.floor((CALLS - openCalls) / 4)));
  const aheadOf = ({ took }: Lane): number =>
    Math.min(MOST_AHEAD, Math.max(AHEAD, Math.floor((placesOf() * AHEAD_SPAN) / Math.max(1, took))));
  const hasRoom = (lane: Lane): boolean =>
    lane.leasing + lane.ready.length < aheadOf(lane) && lane.settling < SETTLING && lane.held < HELD_BYTES;

  /** Calls as many as there are places for; what is read next is told by those that end, never by the reading itself. */
  function pump(lane: Lane, readOn = true): void {
    if (stopping.signal.aborted || !callable(lane.kind)) return giveBack(lane);
    while (lane.calls < placesOf()) {
      const next = lane.ready.shift();
      if (!next) break;
      begin(lane, next);
      if (!callable(lane.kind)) return giveBack(lane);
    }
    fill(lane);
    if (readOn && lane.more && lane.waiting.length < PAGE / 2) loop.nudge();
    watch.asking(lanes.bytes(), openCalls);
  }

  /** Takes leases for what comes next, as far ahead as there are places. */
  function fill(lane: Lane): void {
    const integration = partners.find(lane.kind);
    if (!integration) return;
    while (hasRoom(lane)) {
      const next = lanes.take(lane, integration, clock.now(), partners.apart(lane.kind), ports.ids.chance());
      if (next.length === 0) {
        if (lane.waiting.length > 0) pumpLater(lane);
        return;
      }
      lane.leasing += 1;
      background(
        'lease a trigger',
        lease(next)
          .then((leased) => {
            if (leased.length > 0) lane.ready.push(leased);
          })
          .finally(() => {
            lane.leasing -= 1;
            pump(lane);
          }),
      );
    }
  }

  function pumpLater(lane: Lane): void {
    lane.timer ??= setTimeout(() => {
      lane.timer = null;
      pump(lane);
    }, COLLECT);
  }

  const leaseSpan = (kind: string): Duration => {
    const integration = partners.find(kind);
    // Two keys may mean two calls, and a place may become free only when another call ends.
    return integration ? 3 * lookupTimeouts(integration).total + LEASE_MARGIN : LEASE_MARGIN;
  };

  async function lease(wanted: readonly AskTask[]): Promise<readonly AskTask[]> {
    const [first] = wanted;
    try {
      const leased = await leaseTasks(wanted, clock.now() + leaseSpan(first?.task.kind ?? ''), ports);
      const ours = new Set(leased.map(({ task }) => task.id));
      lanes.forget(wanted.filter(({ task }) => !ours.has(task.id)));
      return leased;
    } catch (error) {
      lanes.forget(wanted);
      throw error;
    }
  }

  /** Nobody can be asked now: leases are given back, and what waits stays in the store. */
  function giveBack(lane: Lane): void {
    lanes.clear(lane);
    for (const leased of lane.ready.splice(0)) {
      background(
        'give a lease back',
        releaseTasks(leased, clock.now(), ports)
          .then(() => undefined)
          .finally(() => lanes.forget(leased)),
      );
    }
  }

  function begin(lane: Lane, shared: readonly AskTask[]): void {
    lane.calls += 1;
    openCalls += 1;
    partners.begin(lane.kind);
    background('ask a partner', ask(lane, shared));
  }

  async function ask(lane: Lane, shared: readonly AskTask[]): Promise<void> {
    const room = answers.open(lane.kind);
    const callId = ports.ids.random('request');
    const startedAt = clock.now();
    let integration = partners.find(lane.kind);
    let answer: PartnerAnswer = { kind: 'not_made', detail: '' };
    try {
      const partner = await partners.open(lane.kind);
      if ('unusable' in partner) {
        answer = { kind: 'unauthorized', status: null, detail: partner.unusable };
        partners.ended(lane.kind, answer, { tried: [], sharedBy: shared.length });
      } else {
        integration = partner.integration;
        answer = await callWithKeys(lane, shared, partner, callId, room.take);
      }
    } catch (error) {
      // A store that is away, or a secret of another key: nobody was asked, so the triggers are settled as such and come again.
      watch.trouble('ask a partner', error);
      partners.ended(lane.kind, answer, { tried: [], sharedBy: shared.length });
    } finally {
      lane.calls -= 1;
      openCalls -= 1;
      lane.took += (clock.now() - startedAt - lane.took) / LATEST;
      lane.settling += 1;
      pump(lane);
    }
    // Refused before, and nobody was answered since: these were asked together because it refuses everybody.
    const toEverybody = shared.every(({ asking }) => asking.alone) && partners.isDoubtful(lane.kind);
    const made = { callId, startedAt, endedAt: clock.now(), answer, toEverybody };
    let left: readonly AskTask[] = [];
    try {
      if (integration) left = await settleCall(shared, made, integration, verdicts);
    } finally {
      lanes.forget(shared);
      room.close();
      lane.settling -= 1;
      for (const one of left) if (one.task.nextAt <= clock.now()) take(one);
      pump(lane);
    }
  }

  /** One call, or two where the first key is refused and there is another. */
  async function callWithKeys(
    lane: Lane,
    shared: readonly AskTask[],
    partner: OpenPartner,
    requestId: string,
    room: (bytes: number) => boolean,
  ): Promise<PartnerAnswer> {
    const { integration, keys, secrets } = partner;
    const named = partnerOfKind(lane.kind);
    const userIds = idsOfCall(shared);
    const leasedUntil = Math.min(...shared.map(({ task }) => task.leaseUntil ?? 0));
    const beginUntil = leasedUntil - lookupTimeouts(integration).total;
    let answer: PartnerAnswer = { kind: 'not_made', detail: '' };
    for (const [index, key] of keys.entries()) {
      const startedAt = clock.now();
      if (startedAt > beginUntil) {
        // It waited too long for its place, or the process stood still: by the end of the call another worker may ask too.
        answer = { kind: 'not_made', detail: '' };
        partners.ended(lane.kind, answer, { tried: [], sharedBy: shared.length });
        return answer;
      }
      const ended = watch.call({
        partner: lane.kind.replace('ask ', ''),
        workspace: named?.workspace ?? '',
        triggers: shared.length,
        traceparent: shared[0]?.asking.trigger?.traceparent ?? null,
      });
      answer = await ports.partners.ask({
        integration,
        key: key.value,
        secrets,
        userIds,
        requestId,
        beginUntil,
        signal: givingUp.signal,
        room,
      });
      const status = 'status' in answer ? answer.status : null;
      ended({ outcome: answer.kind, status, seconds: (clock.now() - startedAt) / 1000 });
      if (answer.kind !== 'unauthorized' || index === keys.length - 1) {
        const tried = keys.slice(0, index + 1).map(({ name }) => name);
        partners.ended(lane.kind, answer, { tried, sharedBy: shared.length });
        return answer;
      }
    }
    return answer;
  }

  const loop: Loop = startLoop(
    POLL,
    async () => {
      partners.tell();
      if (stopping.signal.aborted || recorder.refuses()) return;
      for (const kind of await tasks.dueKinds(clock.now())) {
        if (partnerOfKind(kind) === null) continue;
        const now = clock.now();
        const open = callable(kind);
        const lane = lanes.laneOf(kind);
        // Those in memory are due in the store until their leases are on the disk.
        const most = PAGE + lane.waiting.length + lane.leasing;
        const found = await tasks.due(kind, now, most);
        const page = found
          .filter(({ id, deadline }) => !lanes.isKnown(id) || (deadline ?? now + 1) <= now)
          .map(readTask);
        // While it may not be called, only what needs no call is taken up.
        const ready = open ? page : page.filter(({ asking }) => asking.verdict !== null);
        const late = open ? [] : (await tasks.overdue(kind, now, PAGE)).map(readTask);
        const taken = [...ready, ...late].map(take);
        lane.more = found.length === most || taken.includes('full');
        pump(lane, false);
      }
    },
    (error) => watch.trouble('read what is to be asked', error),
  );

  return {
    offer(offered) {
      if (stopping.signal.aborted) return;
      const touched = new Set<string>();
      for (const one of offered) {
        if (!callable(one.task.kind)) continue;
        if (take(one) === 'full') lanes.laneOf(one.task.kind).more = true;
        touched.add(one.task.kind);
      }
      for (const kind of touched) pump(lanes.laneOf(kind));
    },
    async stop() {
      stopping.abort();
      await loop.stop();
      for (const lane of lanes.all()) {
        if (lane.timer) clearTimeout(lane.timer);
        giveBack(lane);
      }
      const ended = new AbortController();
      await Promise.race([settled(underWay), pause(CALLS_END, ended.signal)]);
      ended.abort();
      givingUp.abort();
      await settled(underWay);
    },
  };
}

/** Until nothing is under way, what began meanwhile included. */
async function settled(underWay: ReadonlySet<Promise<void>>): Promise<void> {
  while (underWay.size > 0) await Promise.all(underWay);
}
