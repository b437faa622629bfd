import { attributionOf, idsOf, MAX_IDS_OF_TRIGGER, type LookupIntegration } from '@carillon/domain';
import type { Duration, Instant } from '@carillon/kernel';
import type { AskTask } from '@carillon/stages';

/** Triggers that are collected for one call wait at most this long for each other. */
export const COLLECT: Duration = 50;
/** Each has a record of its own in the end, so that one call cannot become a flood. */
const MOST_SHARING = 100;
/** More of one partner wait in its store. */
const MOST_OF_LANE = 512;

/** Until a partner has shown how fast it is. */
const SLOW: Duration = 1000;

/** What a trigger takes of the memory, about. */
const bytesOf = ({ task }: AskTask): number => 500 + task.data.length * 2;

type Waiting = { readonly one: AskTask; readonly bytes: number; readonly since: Instant };
export type Lane = {
  readonly kind: string;
  waiting: Waiting[];
  bytes: number;
  /** How many of those that wait are to be asked alone. */
  alone: number;
  /** Triggers whose lease is being taken, or is held and waits for a place. */
  leasing: number;
  readonly ready: (readonly AskTask[])[];
  /** Ids of triggers that are asked one by one, from their lease on. */
  readonly apart: Set<string>;
  /** Bytes of all triggers from their lease on, until what came of them is stored. */
  held: number;
  calls: number;
  /** How long its calls take, the latest counting most. */
  took: Duration;
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
      const counts = { bytes: 0, alone: 0, leasing: 0, held: 0, calls: 0, took: SLOW, settling: 0 };
      lane = { ...counts, kind, waiting: [], ready: [], apart: new Set(), timer: null, more: false };
      lanes.set(kind, lane);
    }
    return lane;
  }

  /** Takes these out of those that wait. */
  function leave(lane: Lane, gone: readonly Waiting[]): readonly AskTask[] {
    const areFirst = gone.every((one, at) => lane.waiting[at] === one);
    if (areFirst) lane.waiting.splice(0, gone.length);
    else {
      const leaving = new Set(gone);
      lane.waiting = lane.waiting.filter((one) => !leaving.has(one));
    }
    for (const one of gone) {
      lane.alone -= one.one.asking.alone ? 1 : 0;
      lane.bytes -= one.bytes;
      bytes -= one.bytes;
    }
    return gone.map(({ one }) => one);
  }

  /** From here on they are under way, until `forget`. */
  function takeOut(lane: Lane, gone: readonly Waiting[]): readonly AskTask[] {
    for (const { bytes: size } of gone) lane.held += size;
    return leave(lane, gone);
  }

  return {
    laneOf,
    all: (): readonly Lane[] => [...lanes.values()],
    bytes: (): number => bytes,
    isKnown: (id: string): boolean => known.has(id),
    /** `known`: it is here or under way already; `full`: it stays in the store. */
    add(one: AskTask, now: Instant): 'taken' | 'known' | 'full' {
      const { id, kind } = one.task;
      if (known.has(id)) return 'known';
      const lane = laneOf(kind);
      const size = bytesOf(one);
      const full = lane.waiting.length >= MOST_OF_LANE || lane.bytes + size > maxBytes / 8 || bytes + size > maxBytes;
      if (full && lane.waiting.length > 0) return 'full';
      lane.waiting.push({ one, bytes: size, since: now });
      lane.alone += one.asking.alone ? 1 : 0;
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
      // As a rule there is none, and a look at all that wait for each of them would cost more than all the rest.
      const alone = lane.alone === 0 ? [] : lane.waiting.filter(({ one }) => one.asking.alone);
      const drawn = lane.apart.size < most ? alone[Math.floor(chance * alone.length)] : undefined;
      if (drawn) {
        lane.apart.add(drawn.one.task.id);
        return takeOut(lane, [drawn]);
      }
      const together = most === 0 && lane.waiting[0]?.one.asking.alone === true;
      const others = lane.alone === 0 ? lane.waiting : lane.waiting.filter(({ one }) => !one.asking.alone);
      const some = together ? alone : others;
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
      return first && (whole || now - first.since >= COLLECT) ? takeOut(lane, some.slice(0, count)) : [];
    },
    /** Nobody can be asked now: what waits stays in the store. */
    clear(lane: Lane): void {
      const gone = leave(lane, [...lane.waiting]);
      for (const { task } of gone) known.delete(task.id);
      lane.more = lane.more || gone.length > 0;
    },
    /** These, which `take` gave, are no longer under way. */
    forget(tasks: readonly AskTask[]): void {
      for (const one of tasks) {
        const { id, kind } = one.task;
        const lane = laneOf(kind);
        known.delete(id);
        lane.apart.delete(id);
        lane.held -= bytesOf(one);
      }
    },
  };
}

/** The ids of a shared call, each once. */
export const idsOfCall = (shared: readonly AskTask[]): readonly string[] =>
  idsOf(shared.map(({ asking }) => asking.trigger?.userIds ?? []));
