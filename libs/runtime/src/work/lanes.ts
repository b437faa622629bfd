/** How much work may wait in memory; what does not fit stays in the store and is read again when there is room. */
export type WorkBounds = {
  /** Bytes of all lanes together. A lane in which nothing waits takes one piece of work always, however large. */
  readonly bytes: number;
  /** The most of one lane, so that none keeps the others out. Left out: as much as there is room for. */
  readonly ofLane?: { readonly bytes: number; readonly pieces: number };
};

/** `known`: it waits or is under way already. `full`: it stays in the store. */
export type Added = 'taken' | 'known' | 'full';

export type Waiting<Work> = { readonly work: Work; readonly bytes: number; readonly since: number };

/** What one lane has, and how far it is: work waits, then its lease is taken, then it is called, then it settles. */
export type Lane<Work> = {
  readonly name: string;
  /** What waits, by whose turn it is. */
  readonly turns: Map<string, Waiting<Work>[]>;
  /** Bytes that wait, and pieces. */
  bytes: number;
  waiting: number;
  /** Bytes under way, from the turn until it is forgotten. */
  held: number;
  /** Calls whose lease is being taken. */
  leasing: number;
  /** Calls that are leased and wait for a place. */
  readonly leased: (readonly Work[])[];
  calling: number;
  /** Calls that are made, and what came of them is on its way to the store or the log. */
  settling: number;
  /** The pieces of each call, from the turn on. */
  readonly underWay: Set<readonly Work[]>;
};

type LanesOf<Work> = {
  readonly idOf: (work: Work) => string;
  /** What it takes of the memory, about. It is asked once for each piece. */
  readonly bytesOf: (work: Work) => number;
  /** Whose it is: those whose work shares a lane take turns in it, and the store is read for each. */
  readonly ownerOf: (work: Work) => string;
  readonly bounds: WorkBounds;
  /** Which of those that wait go into the next call; none: they wait for others. Left out: the first alone. */
  readonly pick?: (waiting: readonly Waiting<Work>[], lane: Lane<Work>) => readonly Waiting<Work>[];
};

const firstAlone = <Work>(waiting: readonly Waiting<Work>[]): readonly Waiting<Work>[] => waiting.slice(0, 1);

/**
 * Work that is due now, in memory: a lane for each thing that may be slow, fair turns between the owners in it, one bound
 * in bytes for all, and each piece once. Nothing here is the truth: the store has it all.
 */
export function createLanes<Work>({ idOf, bytesOf, ownerOf, bounds, pick = firstAlone }: LanesOf<Work>) {
  const lanes = new Map<string, Lane<Work>>();
  /** Bytes by id, of all that wait or are under way. */
  const known = new Map<string, number>();
  const waitingOf = new Map<string, number>();
  let bytes = 0;

  function laneOf(name: string): Lane<Work> {
    let lane = lanes.get(name);
    if (!lane) {
      const counts = { bytes: 0, waiting: 0, held: 0, leasing: 0, calling: 0, settling: 0 };
      lane = { ...counts, name, turns: new Map(), leased: [], underWay: new Set() };
      lanes.set(name, lane);
    }
    return lane;
  }

  function count(lane: Lane<Work>, owner: string, one: Waiting<Work>, sign: 1 | -1): void {
    lane.waiting += sign;
    lane.bytes += sign * one.bytes;
    bytes += sign * one.bytes;
    const left = (waitingOf.get(owner) ?? 0) + sign;
    if (left > 0) waitingOf.set(owner, left);
    else waitingOf.delete(owner);
  }

  function isFull(lane: Lane<Work>, size: number): boolean {
    const { ofLane } = bounds;
    if (lane.waiting === 0) return false;
    if (ofLane && (lane.waiting >= ofLane.pieces || lane.bytes + size > ofLane.bytes)) return true;
    return bytes + size > bounds.bytes;
  }

  function drop(lane: Lane<Work>, gone: readonly Work[]): void {
    for (const work of gone) {
      const id = idOf(work);
      lane.held -= known.get(id) ?? 0;
      known.delete(id);
    }
  }

  return {
    laneOf,
    all: (): readonly Lane<Work>[] => [...lanes.values()],
    /** Bytes of all that wait. */
    bytes: (): number => bytes,
    isKnown: (id: string): boolean => known.has(id),
    /** How much of an owner's work waits, in all lanes. */
    waitingOf: (owner: string): number => waitingOf.get(owner) ?? 0,
    add(name: string, work: Work, since: number): Added {
      const id = idOf(work);
      if (known.has(id)) return 'known';
      const lane = laneOf(name);
      const one = { work, bytes: bytesOf(work), since };
      if (isFull(lane, one.bytes)) return 'full';
      const owner = ownerOf(work);
      const queue = lane.turns.get(owner);
      if (queue) queue.push(one);
      else lane.turns.set(owner, [one]);
      known.set(id, one.bytes);
      count(lane, owner, one, 1);
      return 'taken';
    },
    /** The pieces of the next call, whose owner's turn it is: under way from now on, until `forget`. */
    take(lane: Lane<Work>): readonly Work[] {
      for (const [owner, queue] of lane.turns) {
        const picked = pick(queue, lane);
        if (picked.length === 0) continue;
        const left = without(queue, picked);
        // To the end of the map, so that every other owner has its turn first.
        lane.turns.delete(owner);
        if (left.length > 0) lane.turns.set(owner, left);
        for (const one of picked) {
          count(lane, owner, one, -1);
          lane.held += one.bytes;
        }
        const call = picked.map(({ work }) => work);
        lane.underWay.add(call);
        return call;
      }
      return [];
    },
    /** Nothing of this lane can be done now: what waits in it stays in the store. Answers whose it was. */
    clear(lane: Lane<Work>): readonly string[] {
      const owners = [...lane.turns.keys()];
      for (const [owner, queue] of lane.turns) {
        for (const one of queue) {
          count(lane, owner, one, -1);
          known.delete(idOf(one.work));
        }
      }
      lane.turns.clear();
      return owners;
    },
    /** A call that `take` gave is no longer under way. */
    forget(lane: Lane<Work>, call: readonly Work[]): void {
      lane.underWay.delete(call);
      drop(lane, call);
    },
    /** Only `ours` of a call that `take` gave stay under way, in the form they have now. The others leave. */
    narrow(lane: Lane<Work>, call: readonly Work[], ours: readonly Work[]): void {
      const ids = new Set(ours.map(idOf));
      lane.underWay.delete(call);
      if (ours.length > 0) lane.underWay.add(ours);
      drop(
        lane,
        call.filter((work) => !ids.has(idOf(work))),
      );
    },
  };
}
export type Lanes<Work> = ReturnType<typeof createLanes<Work>>;

function without<Work>(queue: Waiting<Work>[], picked: readonly Waiting<Work>[]): Waiting<Work>[] {
  if (picked.every((one, at) => queue[at] === one)) {
    queue.splice(0, picked.length);
    return queue;
  }
  const leaving = new Set(picked);
  return queue.filter((one) => !leaving.has(one));
}
