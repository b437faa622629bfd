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

  function leave(lane: Lane, gone: readonly Waiting[]): void {
    for (const one of gone) {
      lane.bytes -= one.bytes;
      bytes -= one.bytes;
    }
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
     * The triggers of the next call: empty while others may still join them, or where nothing waits. `most` may be asked
     * one by one at a time; where that is none, those that were to be are asked together like the others.
     */
    take(lane: Lane, integration: LookupIntegration, now: Instant, most: number): readonly AskTask[] {
      const shares = attributionOf(integration).kind !== 'none';
      const isAlone = ({ asking }: AskTask): boolean => asking.alone && most > 0;
      let count = 0;
      let ids = 0;
      for (const { one } of lane.waiting) {
        const own = one.asking.trigger?.userIds.length ?? 0;
        if (count > 0 && (!shares || isAlone(one) || count >= MOST_SHARING || ids + own > MAX_IDS_OF_TRIGGER)) break;
        count += 1;
        ids += own;
        if (isAlone(one)) break;
      }
      const [first] = lane.waiting;
      const alone = first !== undefined && isAlone(first.one);
      if (alone && lane.apart.size >= most) return [];
      const whole = !shares || alone || count < lane.waiting.length || count >= MOST_SHARING;
      if (!first || (!whole && now - first.since < COLLECT)) return [];
      const taken = lane.waiting.splice(0, count);
      leave(lane, taken);
      if (alone) lane.apart.add(first.one.task.id);
      return taken.map(({ one }) => one);
    },
    /** Nobody can be asked now: what waits stays in the store. */
    clear(lane: Lane): void {
      const gone = lane.waiting.splice(0);
      leave(lane, gone);
      for (const { one } of gone) known.delete(one.task.id);
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
