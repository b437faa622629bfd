import { attributionOf, idsOf, MAX_IDS_OF_TRIGGER, type LookupIntegration } from '@carillon/domain';
import type { Duration, Instant } from '@carillon/kernel';
import type { AskTask } from '@carillon/stages';

/** Triggers that are collected for one call wait at most this long for each other. */
export const COLLECT: Duration = 50;
/** Each has a record of its own in the end, so that one call cannot become a flood. */
const MOST_SHARING = 100;
/** More of one partner wait in its store. */
const MOST_OF_LANE = 128;

type Waiting = { readonly one: AskTask; readonly bytes: number; readonly since: Instant };
export type Lane = {
  readonly kind: string;
  waiting: Waiting[];
  bytes: number;
  /** Triggers whose lease is being taken, or is held and waits for a place. */
  leasing: number;
  readonly ready: (readonly AskTask[])[];
  /** Ids of triggers that are asked one by one, from their lease on. */
  readonly apart: Set<string>;
  calls: number;
  settling: number;
  timer: NodeJS.Timeout | null;
  /** The last reading left tasks in the store. */
  more: boolean;
};

/**
 * Triggers due now, in memory: a lane for each partner, and one bound in bytes for all. What does not fit stays in the
 * store, and is read again when there is room. No lane takes more than its share, so that none keeps the others out.
 */
export function createLanes(maxBytes: number) {
  const lanes = new Map<string, Lane>();
  const known = new Set<string>();
  let bytes = 0;

  function laneOf(kind: string): Lane {
    let lane = lanes.get(kind);
    if (!lane) {
      const empty = { waiting: [], bytes: 0, leasing: 0, ready: [], calls: 0, settling: 0, timer: null, more: false };
      lane = { ...empty, kind, apart: new Set() };
      lanes.set(kind, lane);
    }
    return lane;
  }

  /** Takes these out of those that wait. */
  function leave(lane: Lane, gone: readonly Waiting[]): readonly AskTask[] {
    const leaving = new Set(gone);
    lane.waiting = lane.waiting.filter((one) => !leaving.has(one));
    for (const one of gone) {
      lane.bytes -= one.bytes;
      bytes -= one.bytes;
    }
    return gone.map(({ one }) => one);
  }

  return {
    laneOf,
    all: (): readonly Lane[] => [...lanes.values()],
    bytes: (): number => bytes,
    openCalls: (): number => [...lanes.values()].reduce((sum, lane) => sum + lane.calls, 0),
    isKnown: (id: string): boolean => known.has(id),
    /** `known`: it is here or under way already; `full`: it stays in the store. */
    add(one: AskTask, now: Instant): 'taken' | 'known' | 'full' {
      const { id, kind, data } = one.task;
      if (known.has(id)) return 'known';
      const lane = laneOf(kind);
      const size = 500 + data.length * 2;
      const full = lane.waiting.length >= MOST_OF_LANE || lane.bytes + size > maxBytes / 8 || bytes + size > maxBytes;
      if (full && lane.waiting.length > 0) return 'full';
      lane.waiting.push({ one, bytes: size, since: now });
      lane.bytes += size;
      bytes += size;
      known.add(id);
      return 'taken';
    },
    /**
     * The triggers of the next call: empty while others may still join them, or where nothing waits. `most` of those that
     * are to be asked alone may be so at a time, drawn by `chance`; where that is none, they are asked together, but never
     * with those that no call was refused for yet.
     */
    take(lane: Lane, integration: LookupIntegration, now: Instant, most: number, chance: number): readonly AskTask[] {
      const alone = lane.waiting.filter(({ one }) => one.asking.alone);
      const drawn = lane.apart.size < most ? alone[Math.floor(chance * alone.length)] : undefined;
      if (drawn) {
        lane.apart.add(drawn.one.task.id);
        return leave(lane, [drawn]);
      }
      const together = most === 0 && lane.waiting[0]?.one.asking.alone === true;
      const some = together ? alone : lane.waiting.filter(({ one }) => !one.asking.alone);
      const shares = attributionOf(integration).kind !== 'none';
      let count = 0;
      let ids = 0;
      for (const { one } of some) {
        const own = one.asking.trigger?.userIds.length ?? 0;
        if (count > 0 && (!shares || count >= MOST_SHARING || ids + own > MAX_IDS_OF_TRIGGER)) break;
        count += 1;
        ids += own;
      }
      const [first] = some;
      const whole = !shares || count < some.length || count >= MOST_SHARING;
      return first && (whole || now - first.since >= COLLECT) ? leave(lane, some.slice(0, count)) : [];
    },
    /** Nobody can be asked now: what waits stays in the store. */
    clear(lane: Lane): void {
      const gone = leave(lane, lane.waiting);
      for (const { task } of gone) known.delete(task.id);
      lane.more = lane.more || gone.length > 0;
    },
    /** These are no longer under way. */
    forget(tasks: readonly AskTask[]): void {
      for (const { task } of tasks) {
        known.delete(task.id);
        lanes.get(task.kind)?.apart.delete(task.id);
      }
    },
  };
}

/** The ids of a shared call, each once. */
export const idsOfCall = (shared: readonly AskTask[]): readonly string[] =>
  idsOf(shared.map(({ asking }) => asking.trigger?.userIds ?? []));
