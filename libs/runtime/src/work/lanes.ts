/** Limits of work waiting in memory. The rest stays in the store and is read again when there is room. */
export type WorkBounds = {
  /** Bytes of all lanes together. An empty lane always accepts one piece, of any size. */
  readonly bytes: number;
  /** Maximum per lane, so that no lane crowds out the others. Defaults to no limit per lane. */
  readonly ofLane?: { readonly bytes: number; readonly pieces: number };
};

/** `known`: already waiting or running. `full`: stays in the store. */
export type Added = 'taken' | 'known' | 'full';

export type Waiting<Work> = { readonly work: Work; readonly bytes: number; readonly since: number };

/** State of one lane. Work waits, then its lease is taken, then it is called, then its result is stored. */
export type Lane<Work> = {
  readonly name: string;
  /** Waiting pieces per owner, in the order of their turns. */
  readonly turns: Map<string, Waiting<Work>[]>;
  /** Bytes of the waiting pieces. */
  bytes: number;
  waiting: number;
  /** Bytes of running work, from `take` to `forget`. */
  held: number;
  /** Calls whose lease is being taken. */
  leasing: number;
  /** Leased calls that wait for a free slot. */
  readonly leased: (readonly Work[])[];
  calling: number;
  /** Finished calls whose result is being stored. */
  settling: number;
  /** Pieces of each running call. */
  readonly underWay: Set<readonly Work[]>;
};

type LanesOf<Work> = {
  readonly idOf: (work: Work) => string;
  /** Approximate memory of a piece in bytes. Called once per piece. */
  readonly bytesOf: (work: Work) => number;
  /** Owner of a piece. Owners take turns within a lane, and the store is read per owner. */
  readonly ownerOf: (work: Work) => string;
  readonly bounds: WorkBounds;
  /** Picks the pieces of the next call; none to wait for more. Defaults to the first piece. */
  readonly pick?: (waiting: readonly Waiting<Work>[], lane: Lane<Work>) => readonly Waiting<Work>[];
};

const firstAlone = <Work>(waiting: readonly Waiting<Work>[]): readonly Waiting<Work>[] => waiting.slice(0, 1);

/**
 * Queues of due work in memory: one lane per resource that may be slow, fair turns between owners, a common bound in
 * bytes, and each piece once. The store is the source of truth.
 */
export function createLanes<Work>({ idOf, bytesOf, ownerOf, bounds, pick = firstAlone }: LanesOf<Work>) {
  const lanes = new Map<string, Lane<Work>>();
  /** Bytes by id of all waiting and running pieces. */
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

  function count(lane: Lane<Work>, owner: string, entry: Waiting<Work>, sign: 1 | -1): void {
    lane.waiting += sign;
    lane.bytes += sign * entry.bytes;
    bytes += sign * entry.bytes;
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

  function drop(lane: Lane<Work>, lost: readonly Work[]): void {
    for (const work of lost) {
      const id = idOf(work);
      lane.held -= known.get(id) ?? 0;
      known.delete(id);
    }
  }

  return {
    laneOf,
    all: (): readonly Lane<Work>[] => [...lanes.values()],
    /** Bytes of all waiting pieces. */
    bytes: (): number => bytes,
    isKnown: (id: string): boolean => known.has(id),
    /** Number of an owner's waiting pieces in all lanes. */
    waitingOf: (owner: string): number => waitingOf.get(owner) ?? 0,
    add(name: string, work: Work, since: number): Added {
      const id = idOf(work);
      if (known.has(id)) return 'known';
      const lane = laneOf(name);
      const entry = { work, bytes: bytesOf(work), since };
      if (isFull(lane, entry.bytes)) return 'full';
      const owner = ownerOf(work);
      const queue = lane.turns.get(owner);
      if (queue) queue.push(entry);
      else lane.turns.set(owner, [entry]);
      known.set(id, entry.bytes);
      count(lane, owner, entry, 1);
      return 'taken';
    },
    /** Takes the pieces of the next call, for the owner whose turn it is. They count as running until `forget`. */
    take(lane: Lane<Work>): readonly Work[] {
      for (const [owner, queue] of lane.turns) {
        const picked = pick(queue, lane);
        if (picked.length === 0) continue;
        const left = without(queue, picked);
        // Moves the owner to the end of the map, so that every other owner has its turn first.
        lane.turns.delete(owner);
        if (left.length > 0) lane.turns.set(owner, left);
        for (const entry of picked) {
          count(lane, owner, entry, -1);
          lane.held += entry.bytes;
        }
        const call = picked.map(({ work }) => work);
        lane.underWay.add(call);
        return call;
      }
      return [];
    },
    /** Drops all waiting pieces of a lane that cannot run now; they stay in the store. Returns their owners. */
    clear(lane: Lane<Work>): readonly string[] {
      const owners = [...lane.turns.keys()];
      for (const [owner, queue] of lane.turns) {
        for (const entry of queue) {
          count(lane, owner, entry, -1);
          known.delete(idOf(entry.work));
        }
      }
      lane.turns.clear();
      return owners;
    },
    /** Marks a call of `take` as no longer running. */
    forget(lane: Lane<Work>, call: readonly Work[]): void {
      lane.underWay.delete(call);
      drop(lane, call);
    },
    /** Reduces a call of `take` to the pieces `ours`, in their current form. The others are no longer running. */
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
  if (picked.every((entry, at) => queue[at] === entry)) {
    queue.splice(0, picked.length);
    return queue;
  }
  const leaving = new Set(picked);
  return queue.filter((entry) => !leaving.has(entry));
}
